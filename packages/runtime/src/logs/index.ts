export {
  createLogger,
  type LogFields,
  type Logger,
  type LoggerOptions,
  type LogLevel,
  withFields,
} from './createLogger.ts';
export { type LogOutput, openLogOutput } from './openLogOutput.ts';
