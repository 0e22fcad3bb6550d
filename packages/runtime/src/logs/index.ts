export { createLogger, type LogFields, type Logger, type LoggerOptions, type LogLevel } from './createLogger.ts';
export { type LogOutput, openLogOutput } from './openLogOutput.ts';
export { withFields } from './withFields.ts';
