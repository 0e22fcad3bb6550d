export { parseSettings, type Settings } from './settings/settings.ts';
export { SettingsError } from './settings/settingsError.ts';
export { type RunningRelayer, startRelayer } from './startRelayer.ts';
