export { createLogger, type Logger, withFields } from './createLogger.ts';
export { type LogOutput, openLogOutput } from './openLogOutput.ts';
