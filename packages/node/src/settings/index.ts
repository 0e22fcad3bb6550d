export { findMisspelt } from './findMisspelt.ts';
export { type Environment, keyFaults, parseEnvironment, SettingsError } from './parseEnvironment.ts';
export { type Setting, type Settings, type SettingValues, secretValues, setting } from './setting.ts';
export {
  address,
  baseUnits,
  decimalAmount,
  expected,
  flag,
  httpUrl,
  listOf,
  logLevel,
  oneOf,
  portOrOff,
  privateKey,
  smtpUrl,
  splitList,
  wholeNumber,
} from './settingFields.ts';
export { writeSettingsHelp, writeSettingsPage } from './writeSettings.ts';
