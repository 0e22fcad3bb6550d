import { pino } from 'pino';

/** Writes lines to standard output in the background. */
export interface LogOutput {
  /** Takes a whole line, its newline included. */
  readonly write: (line: string) => void;
  /**
   * Writes what waits; the last thing that a program does. If the reader has stopped reading, a thread is stuck in its write, and an exit in
   * good order would wait for it: then the process kills itself.
   */
  close(): Promise<void>;
}

/** Characters that are handed over at once under load. */
const WRITE_LENGTH = 16_384;
/** Most bytes that wait for a reader that has fallen behind; what is written beyond them is dropped. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** How long the last lines may take, in milliseconds. */
const CLOSE_WITHIN_MS = 1000;

/** Gathers lines: handing each of them to the writer would cost more than making it. */
function gatherLines(gatherMs: number, write: (lines: string) => void) {
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
      if (gatherMs === 0 || lines.length >= WRITE_LENGTH) pass();
      else timer ??= setTimeout(pass, gatherMs).unref();
    },
    pass,
  };
}

/**
 * Opens standard output for a log. A reader that falls behind holds nobody up, and one that goes away (`npm start | head`) is no
 * reason to stop.
 *
 * @param options.gatherMs - how long a line may wait for others, for a program that writes thousands a second; default 0
 */
export function openLogOutput(options: { readonly gatherMs?: number } = {}): LogOutput {
  const output = pino.destination({ dest: 1, sync: false, maxLength: MAX_WAITING_BYTES });
  const gathered = gatherLines(options.gatherMs ?? 0, (lines) => output.write(lines));
  output.on('error', () => undefined);
  return {
    write: gathered.write,
    close() {
      gathered.pass();
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(() => process.kill(process.pid, 'SIGKILL'), CLOSE_WITHIN_MS);
      const written = () => {
        clearTimeout(timer);
        resolve();
      };
      output.on('close', written).on('error', written).end();
      return promise;
    },
  };
}
