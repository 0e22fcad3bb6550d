import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** What is run, as a reader of the documents would run it. */
export interface CommandOrder {
  /** npm's script. */
  readonly script: string;
  readonly args: readonly string[];
  /** Settings on top of this process's own. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** How long it may take to say or do anything, in milliseconds: a bound for hangs. */
  readonly timeoutMs: number;
}

/** A command at work. */
export interface RunningCommand {
  /** Everything that it has printed. */
  output(): string;
  /** Waits until it prints something. @returns the match @throws SmokeError when it ends or hangs before */
  waitFor(pattern: RegExp): Promise<RegExpMatchArray>;
  /** Waits for its end. @returns its exit status, null after a signal @throws SmokeError when it hangs */
  waitForEnd(): Promise<number | null>;
  /** Asks it to stop as an operator would, by SIGTERM to npm. @returns its exit status */
  stop(): Promise<number | null>;
  /** Ends it and all that it started. */
  kill(): void;
}

/** A command that did not do what it should; `message` ends with what it printed last. */
export class SmokeError extends Error {
  override readonly name = 'SmokeError';
  readonly code = 'SMOKE_FAILED';
}

const TAIL_LINES = 25;

/**
 * Starts a command by npm, in a process group of its own.
 *
 * @param order - what is run
 */
export function startCommand({ script, args, env, cwd, timeoutMs }: CommandOrder): RunningCommand {
  // npm names itself here when it runs a script; started by hand, the one on the PATH will do.
  const npm = process.env.npm_execpath;
  const [command, ...prefix] = npm === undefined ? ['npm'] : [process.execPath, npm];
  const child = spawn(command as string, [...prefix, 'run', '--silent', script, '--', ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      output += part;
    });
  }
  const ended = once(child, 'close').then(([status]) => status as number | null);
  const fail = (what: string) =>
    new SmokeError(`${what}; it printed\n${output.split('\n').slice(-TAIL_LINES).join('\n')}`);
  const kill = () => {
    // Without a pid it was never started; the group may be gone already.
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  };

  async function bounded<T>(awaited: Promise<T>, what: string): Promise<T> {
    const hung = Promise.withResolvers<never>();
    const timer = setTimeout(() => hung.reject(fail(`${what} within ${timeoutMs / 1000} s`)), timeoutMs);
    return await Promise.race([awaited, hung.promise]).finally(() => clearTimeout(timer));
  }

  async function waitFor(pattern: RegExp): Promise<RegExpMatchArray> {
    const seen = Promise.withResolvers<RegExpMatchArray>();
    const look = () => {
      const match = output.match(pattern);
      if (match !== null) seen.resolve(match);
    };
    for (const stream of [child.stdout, child.stderr]) stream.on('data', look);
    look();
    const early = ended.then((status) => {
      throw fail(`It ended with ${status} before it printed ${pattern}`);
    });
    return await bounded(Promise.race([seen.promise, early]), `It did not print ${pattern}`);
  }

  const waitForEnd = () => bounded(ended, 'It did not end');
  return {
    output: () => output,
    waitFor,
    waitForEnd,
    async stop() {
      child.kill('SIGTERM');
      return await waitForEnd();
    },
    kill,
  };
}
