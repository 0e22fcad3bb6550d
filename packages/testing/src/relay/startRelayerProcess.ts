import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { guardChild } from '@prism-gateway/runtime/guard-child';

const ENTRY = fileURLToPath(new URL('../../../relayer/src/entry/relayer.ts', import.meta.url));

/** A relayer process. */
export interface RelayerProcess {
  readonly process: ChildProcess;
  /** Of its metrics, like `http://127.0.0.1:40123`. */
  readonly metricsUrl: string;
  /** Every line it has printed. */
  readonly output: readonly string[];
  /** Reads a counter or gauge, all label values together. */
  readMetric(name: string, labels?: string): Promise<number>;
  /** Stops it as an operator would, by SIGTERM. @returns its exit code */
  stop(): Promise<number | null>;
  /** Stops it as a crash would, by SIGKILL. */
  kill(): Promise<void>;
}

/** Settings of a relayer; those of the rig: metrics on any port. */
export type RelayerEnv = Readonly<Record<string, string>>;

/** Reads the lines of a starting relayer until it says that it has started. */
async function readMetricsUrl(child: ChildProcess, output: string[]): Promise<string> {
  const url = Promise.withResolvers<string>();
  const read = (line: string) => {
    output.push(line);
    const found = /"metrics":"([^"]+)".*"msg":"started"/.exec(line)?.[1];
    if (found !== undefined) url.resolve(found);
  };
  for (const stream of [child.stdout, child.stderr]) if (stream) createInterface({ input: stream }).on('line', read);
  child.once('close', (code) => url.reject(new Error(`The relayer ended with ${code}:\n${output.join('\n')}`)));
  return await url.promise;
}

function sumSamples(text: string, name: string, labels: string): number {
  const samples = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  const chosen = samples.filter((line) => line.includes(labels));
  return chosen.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

/**
 * Starts the real relayer in a process of its own and waits until it works.
 *
 * @param env - its settings
 * @param nodeFlags - flags of Node, such as those of `npm run relayer`; default none
 * @throws Error with what it printed, when it ends instead
 */
export async function startRelayerProcess(env: RelayerEnv, nodeFlags: readonly string[] = []): Promise<RelayerProcess> {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [...nodeFlags, ENTRY], {
    env: { PATH, HOME, NODE_COMPILE_CACHE, METRICS_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: string[] = [];
  const closed = once(child, 'close').finally(guardChild(child));
  const metricsUrl = await readMetricsUrl(child, output);
  async function end(signal: NodeJS.Signals): Promise<number | null> {
    child.kill(signal);
    const [code] = await closed;
    // `close` tells the exit code, or null after a signal.
    return code as number | null;
  }
  return {
    process: child,
    metricsUrl,
    output,
    async readMetric(name, labels = '') {
      const response = await fetch(`${metricsUrl}/metrics`);
      return sumSamples(await response.text(), name, labels);
    },
    stop: () => end('SIGTERM'),
    async kill() {
      await end('SIGKILL');
    },
  };
}
