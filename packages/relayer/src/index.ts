export { parseSettings, type Settings } from './settings/settings.ts';
export { type RunningRelayer, startRelayer } from './startRelayer.ts';
