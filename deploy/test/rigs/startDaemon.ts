import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A program of this repository that serves metrics. */
export interface Daemon extends AsyncDisposable {
  /** Like `http://127.0.0.1:40123`. */
  readonly metricsUrl: string;
}

const root = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Starts a program in a process of its own and waits until it says where its metrics are.
 *
 * @param entry - its file, from the repository's root
 * @param settings - its environment; metrics on any free port
 * @throws Error with what it printed, when it ends instead
 */
export async function startDaemon(entry: string, settings: Readonly<Record<string, string>>): Promise<Daemon> {
  const { PATH, HOME, NODE_COMPILE_CACHE, TMPDIR } = process.env;
  const env = { PATH, HOME, NODE_COMPILE_CACHE, TMPDIR, METRICS_PORT: '0', ...settings };
  const child = spawn(process.execPath, [`${root}${entry}`], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close');
  const printed: string[] = [];
  const found = Promise.withResolvers<string>();
  const read = (line: string) => {
    printed.push(line);
    const url = /"metrics":"(http:[^"]+)"/.exec(line)?.[1];
    if (url !== undefined) found.resolve(url);
  };
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', read);
  child.once('close', (code) => found.reject(new Error(`${entry} ended with ${code}:\n${printed.join('\n')}`)));
  return {
    metricsUrl: await found.promise,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await closed;
    },
  };
}
