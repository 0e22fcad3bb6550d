export { keyFaults } from './keyFaults.ts';
export { type Environment, parseEnvironment, type SettingRules } from './parseEnvironment.ts';
export { SettingsError } from './SettingsError.ts';
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
