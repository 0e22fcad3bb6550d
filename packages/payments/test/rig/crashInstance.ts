import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const entry = fileURLToPath(new URL('../../src/entry/payments.ts', import.meta.url));
const prelude = new URL('./crashPrelude.ts', import.meta.url).href;

/** A payment relayer in a process of its own, which will kill itself. */
export interface CrashingInstance {
  /** Ends when the process has: the signal, or undefined where it ended by itself. */
  readonly ended: Promise<NodeJS.Signals | undefined>;
  kill(): Promise<void>;
}

/**
 * Starts the real program, to be killed at a point of its work.
 *
 * @param crash - the number of the point, 0 for none, among those of a name if one is given; and a file for the points' names
 */
export function crashInstance(
  settings: Readonly<Record<string, string>>,
  crash: { readonly at: number; readonly name?: string; readonly logFile?: string },
): CrashingInstance {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = {
    PATH,
    NODE_COMPILE_CACHE,
    ...settings,
    LOG_LEVEL: 'silent',
    CRASH_AT: `${crash.at}`,
    CRASH_NAME: crash.name,
    CRASH_LOG: crash.logFile,
  };
  const child = spawn(process.execPath, ['--import', prelude, entry], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const killer = () => child.kill('SIGKILL');
  process.once('exit', killer);
  // `exit` comes with code and signal.
  const ended = once(child, 'exit').then(([, signal]) => {
    process.off('exit', killer);
    return (signal ?? undefined) as NodeJS.Signals | undefined;
  });
  return {
    ended,
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
