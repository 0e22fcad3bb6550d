import { pino } from 'pino';
import type { Logger } from '../../ports/logger.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export interface ProcessLogger extends Logger {
  /**
   * Writes what waits, before the process ends; nothing is logged afterwards.
   *
   * @returns false where the reader has stopped reading: a thread is stuck in its write then, for which the process would wait
   */
  close(): Promise<boolean>;
}

/** Characters of log that are written at once under load, and how long fewer may wait, in milliseconds. */
const WRITE_LENGTH = 16_384;
const WRITE_AFTER_MS = 100;

/** Most bytes that wait for a reader that has fallen behind; what is logged beyond them is dropped. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** How long the last lines may take, in milliseconds. */
const CLOSE_WITHIN_MS = 1000;

/** Gathers lines: handing each of them to the writer would cost more than making it. */
function gatherLines(write: (lines: string) => void) {
  let lines = '';
  let timer: NodeJS.Timeout | undefined;
  function pass(): void {
    clearTimeout(timer);
    timer = undefined;
    if (lines !== '') write(lines);
    lines = '';
  }
  return {
    write(line: string) {
      lines += line;
      if (lines.length >= WRITE_LENGTH) pass();
      else timer ??= setTimeout(pass, WRITE_AFTER_MS).unref();
    },
    pass,
  };
}

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/**
 * Makes the logger: JSON lines on standard output, written in the background by pino's destination. The lines are made here: a
 * request's is half the cost of pino's own, and a busy service writes one for each.
 */
export function createLogger(level: LogLevel): ProcessLogger {
  const output = pino.destination({ dest: 1, sync: false, maxLength: MAX_WAITING_BYTES });
  const gathered = gatherLines((lines) => output.write(lines));
  // A reader that went away (`npm start | head`) is no reason to stop serving.
  output.on('error', () => undefined);
  function writer(name: (typeof LEVELS)[number]): Logger['info'] {
    if (LEVELS.indexOf(name) < LEVELS.indexOf(level)) return () => undefined;
    return (fields, msg) => gathered.write(`${JSON.stringify({ level: name, time: Date.now(), ...fields, msg })}\n`);
  }
  return {
    debug: writer('debug'),
    info: writer('info'),
    warn: writer('warn'),
    error: writer('error'),
    close() {
      gathered.pass();
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const timer = setTimeout(resolve, CLOSE_WITHIN_MS, false);
      const written = () => {
        clearTimeout(timer);
        resolve(true);
      };
      output.on('close', written).on('error', written).end();
      return promise;
    },
  };
}
