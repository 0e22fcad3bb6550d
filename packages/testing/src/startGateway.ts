import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { guardChild } from '@prism-gateway/runtime/guard-child';

const SERVER = fileURLToPath(new URL('../../gateway/src/entry/server.ts', import.meta.url));

/** A gateway process. */
export interface RunningGateway {
  /** Its address, like `http://127.0.0.1:40123`; no trailing slash. */
  readonly url: string;
  readonly adminKey: string;
  readonly dataDir: string;
  readonly process: ChildProcess;
  /** Every line it has printed. */
  readonly output: readonly string[];
  /** Stops it as an operator would, by SIGTERM. @returns its exit code */
  stop(): Promise<number | null>;
  /** Stops it as a crash would, by SIGKILL. */
  kill(): Promise<void>;
}

export interface GatewaySettings {
  /** Settings beyond the rig's own: any port of 127.0.0.1, a data directory of its own, no rate limits, logs of level info. */
  readonly env?: Readonly<Record<string, string>>;
  /** Flags of Node, such as those of `npm start`; default none. */
  readonly nodeFlags?: readonly string[];
  /** Data directory to share or go on with; else a new one, removed when the gateway stops. */
  readonly dataDir?: string;
}

/** The administrator's key of gateways in tests. */
const ADMIN_KEY = 'change-me-admin-key';

function gatewayEnv(dataDir: string, env: GatewaySettings['env']): NodeJS.ProcessEnv {
  const limits = Object.fromEntries(
    ['WRITES', 'WRITE_BYTES', 'READS', 'SIGN', 'CLAIMS', 'REPORTS', 'AUTH_FAILURES', 'ADMIN_FAILURES'].map((name) => [
      `RATE_LIMIT_${name}`,
      '0',
    ]),
  );
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  return {
    PATH,
    HOME,
    NODE_COMPILE_CACHE,
    HOST: '127.0.0.1',
    PORT: '0',
    METRICS_PORT: '0',
    DATA_DIR: dataDir,
    ADMIN_API_KEY: ADMIN_KEY,
    ...limits,
    ...env,
  };
}

/** Reads the lines of a starting gateway until it says where it listens. */
async function readAddress(child: ChildProcess, output: string[]): Promise<string> {
  const address = Promise.withResolvers<string>();
  const read = (line: string) => {
    output.push(line);
    const found = /"address":"([^"]+)".*"msg":"listening"/.exec(line)?.[1];
    if (found !== undefined) address.resolve(found);
  };
  for (const stream of [child.stdout, child.stderr]) if (stream) createInterface({ input: stream }).on('line', read);
  child.once('close', (code) => address.reject(new Error(`The gateway ended with ${code}:\n${output.join('\n')}`)));
  return await address.promise;
}

/**
 * Starts the real gateway in a process of its own and waits until it listens.
 *
 * @throws Error with what it printed, when it ends instead
 */
export async function startGateway({
  env,
  nodeFlags = [],
  dataDir: given,
}: GatewaySettings = {}): Promise<RunningGateway> {
  const dataDir = given ?? (await mkdtemp(join(tmpdir(), 'prism-gateway-')));
  const options: SpawnOptions = { env: gatewayEnv(dataDir, env), stdio: ['ignore', 'pipe', 'pipe'] };
  const child = spawn(process.execPath, [...nodeFlags, SERVER], options);
  const output: string[] = [];
  const endGuard = guardChild(child, given === undefined ? { folder: dataDir } : {});
  const closed = once(child, 'close').finally(endGuard);
  const url = await readAddress(child, output);
  async function end(signal: NodeJS.Signals): Promise<number | null> {
    child.kill(signal);
    const [code] = await closed;
    if (given === undefined) await rm(dataDir, { recursive: true, force: true });
    // `close` tells the exit code, or null after a signal.
    return code as number | null;
  }
  return {
    url,
    adminKey: ADMIN_KEY,
    dataDir,
    process: child,
    output,
    stop: () => end('SIGTERM'),
    async kill() {
      await end('SIGKILL');
    },
  };
}
