import { pino } from 'pino';
import type { Logger } from '../../ports/logger.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export interface ProcessLogger extends Logger {
  /** Writes what waits; call it before the process ends. */
  flush(): void;
}

/** Bytes of log that are written at once under load, and how long fewer may wait, in milliseconds. */
const WRITE_BYTES = 8192;
const WRITE_AFTER_MS = 100;

/** Makes the logger: JSON lines on standard output, written in the background. */
export function createLogger(level: LogLevel): ProcessLogger {
  const output = pino.destination({ dest: 1, sync: false, minLength: WRITE_BYTES, periodicFlush: WRITE_AFTER_MS });
  // A reader that went away (`npm start | head`) is no reason to stop serving.
  output.on('error', () => undefined);
  const logger = pino(
    {
      level,
      base: null,
      formatters: { level: (label) => ({ level: label }) },
    },
    output,
  );
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
    flush() {
      try {
        output.flushSync();
      } catch {
        // Nothing is left that could be told to anyone.
      }
    },
  };
}
