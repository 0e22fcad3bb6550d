export { type Environment, keyFaults, parseEnvironment, SettingsError } from './parseEnvironment.ts';
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
