import { pino } from 'pino';
import type { Logger } from '../../ports/logger.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export interface ProcessLogger extends Logger {
  /** Writes what waits; call it before the process ends. */
  flush(): void;
}

/** Characters of log that are written at once under load, and how long fewer may wait, in milliseconds. */
const WRITE_LENGTH = 16_384;
const WRITE_AFTER_MS = 100;

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
  const output = pino.destination({ dest: 1, sync: false });
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
    flush() {
      try {
        gathered.pass();
        output.flushSync();
      } catch {
        // Nothing is left that could be told to anyone.
      }
    },
  };
}
