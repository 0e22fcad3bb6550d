import { type Logger as Pino, pino } from 'pino';
import type { Logger } from '../logger.ts';

/**
 * Creates the log: lines of JSON on standard output, without secrets.
 *
 * @param options - the least level, and what takes secrets out of texts
 * @returns the log
 */
export function createLogger(options: { readonly level: string; readonly redact: (text: string) => string }): Logger {
  const log: Pino = pino({
    level: options.level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    hooks: {
      streamWrite: (line) => options.redact(line),
    },
  });
  return log;
}
