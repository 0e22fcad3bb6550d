import type { Logger } from '../../ports/logger.ts';

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;

export type LogLevel = (typeof LEVELS)[number];

interface LoggerOptions {
  /** The least level that is written. */
  readonly level: LogLevel;
  /** Takes a whole line, its newline included, and has written it when it returns. */
  readonly write: (line: string) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** What every line says besides, asked for at each line. */
  readonly fields: () => Readonly<Record<string, unknown>>;
}

/**
 * Makes a logger that writes each line before it goes on, as JSON in the shape of the other loggers. A function is frozen when
 * it has answered: lines that wait for a background writer would come late or never.
 */
export function createLogger({ level: least, write, now, fields }: LoggerOptions): Logger {
  function writer(level: LogLevel): Logger['info'] {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(least)) return () => undefined;
    return (facts, msg) => write(`${JSON.stringify({ level, time: now(), ...fields(), ...facts, msg })}\n`);
  }
  return { debug: writer('debug'), info: writer('info'), warn: writer('warn'), error: writer('error') };
}
