import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const RUNNER = fileURLToPath(new URL('./functionRunner.ts', import.meta.url));

/** The time limit of a function on AWS, in milliseconds. */
const LIMIT_MS = 29_000;

export interface RunningFunction extends AsyncDisposable {
  /**
   * Calls it.
   *
   * @param limitMs - its time limit; default 29,000
   * @returns its answer as parsed JSON
   * @throws Error with what it threw
   */
  invoke(event: unknown, limitMs?: number): Promise<unknown>;
  /** Every line it has printed by now. */
  readOutput(): Promise<readonly string[]>;
  /** Ends it. */
  close(): Promise<void>;
}

interface FunctionSettings {
  /** Module that exports `handler`. */
  readonly file: string;
  /** All of its environment variables. */
  readonly env: Readonly<Record<string, string>>;
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

type Message = { ready: true } | { id: number; result: string } | { id: number; error: string };

/**
 * Starts a function of Lambda in a process of its own, which answers events one by one or side by side.
 *
 * @throws Error with what it printed, when it ends instead of getting ready
 */
export async function startFunction({ file, env }: FunctionSettings): Promise<RunningFunction> {
  const child = fork(RUNNER, [file], { env, execArgv: [], stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  const output: string[] = [];
  const markers = new Map<string, () => void>();
  const readLine = (line: string) => {
    const passed = markers.get(line);
    if (passed === undefined) output.push(line);
    else passed();
  };
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', readLine);
  }
  const closed = once(child, 'close');
  const ready = Promise.withResolvers<void>();
  const waiting = new Map<number, Waiting>();
  const fail = () => {
    const error = new Error(`The function ended with ${child.exitCode}:\n${output.join('\n')}`);
    ready.reject(error);
    for (const { reject } of waiting.values()) reject(error);
  };
  child.once('close', fail);
  // The runner sends nothing else.
  child.on('message', (message: Message) => {
    if ('ready' in message) return ready.resolve();
    const call = waiting.get(message.id);
    waiting.delete(message.id);
    if ('error' in message) call?.reject(new Error(message.error));
    else call?.resolve(JSON.parse(message.result));
  });
  await ready.promise;

  let count = 0;
  const close = async () => {
    child.off('close', fail);
    child.kill('SIGKILL');
    await closed;
  };
  return {
    close,
    [Symbol.asyncDispose]: close,
    async readOutput() {
      // Lines come by a pipe of their own: what was printed before the marker is there when the marker is.
      const marker = `marker ${count++}`;
      const passed = Promise.withResolvers<void>();
      markers.set(marker, passed.resolve);
      child.send({ marker });
      await passed.promise;
      return output;
    },
    async invoke(event, limitMs = LIMIT_MS) {
      const id = count++;
      const answer = Promise.withResolvers<unknown>();
      waiting.set(id, answer);
      child.send({ id, event, limitMs });
      return await answer.promise;
    },
  };
}
