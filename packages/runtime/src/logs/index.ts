export { createLogger, type Logger, withFields } from './createLogger.ts';
export { openLogOutput } from './openLogOutput.ts';
