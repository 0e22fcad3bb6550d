import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, open, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { fillQueue, findFreePort } from '@prism-gateway/testing';
import { compileCache, gatewayFlagsOn, gateway as program } from '../../../bin/programs.mjs';
import type { BenchContext } from '../benchContext.ts';
import { ownChild } from './ownChild.ts';

/** A gateway of its own, with a store of its own. */
export interface Gateway {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly adminKey: string;
}

/** Limits that no run reaches: 0 would take the limiter out of what is measured. */
const LIMITS = ['WRITES', 'READS', 'SIGN', 'WRITE_BYTES', 'CLAIMS', 'REPORTS', 'AUTH_FAILURES'];
const RATE_LIMITS = Object.fromEntries(LIMITS.map((name) => [`RATE_LIMIT_${name}`, '1000000000']));

const START_TIMEOUT_MS = 120_000;
const POLL_MS = 20;
const SHOWN_LOG_CHARS = 2_000;

/**
 * Starts the gateway as `npm start` does, and whitelists the bench's relayers. They hold what they have claimed until the end of a run, so
 * that there is no bound on what one may hold.
 *
 * @param context - its stack stops the gateway
 * @param start.settings - environment on top of the bench's own
 * @param start.backlog - bodies of `POST /requests` that its store holds at the start
 * @throws Error with the end of the gateway's log if it does not come up
 */
export async function startGateway(
  context: BenchContext,
  { settings = {}, backlog }: { readonly settings?: Record<string, string>; readonly backlog?: Iterable<object> } = {},
): Promise<Gateway> {
  const { dir: parent, profile } = context.options;
  await mkdir(parent, { recursive: true });
  const dir = await mkdtemp(join(resolve(parent), 'prism-bench-'));
  const dataDir = join(dir, 'data');
  await mkdir(dataDir);
  if (backlog !== undefined) await fillQueue({ dataDir }, backlog);
  const port = await findFreePort();
  const adminKey = randomBytes(24).toString('hex');
  const log = await open(join(dir, 'log'), 'w');
  const profiling = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
  const child = spawn(process.execPath, [...gatewayFlagsOn(settings.STORE), ...profiling, program.file], {
    cwd: fileURLToPath(new URL('../../../', import.meta.url)),
    env: {
      ...program.env,
      ...RATE_LIMITS,
      NODE_COMPILE_CACHE: compileCache,
      PATH: process.env.PATH,
      HOST: '127.0.0.1',
      PORT: String(port),
      STAGE: 'dev',
      DATA_DIR: dataDir,
      ADMIN_API_KEY: adminKey,
      MAX_OPEN_CLAIMS: '0',
      ...settings,
    },
    stdio: ['ignore', log.fd, log.fd],
  });
  await log.close();
  ownChild(context.stack, child, { folder: dir });
  const url = `http://127.0.0.1:${port}`;
  await waitUntilReady(`${url}/ready`, { hasEnded: () => child.exitCode !== null, logFile: join(dir, 'log') });
  for (const { address } of context.relayers) await whitelist(url, { adminKey, address });
  // A process that has answered has a pid.
  return { url, port, adminKey, pid: child.pid as number };
}

async function waitUntilReady(
  url: string,
  { hasEnded, logFile }: { readonly hasEnded: () => boolean; readonly logFile: string },
): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < deadline && !hasEnded()) {
    const answer = await fetch(url).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.ok) return;
    await sleep(POLL_MS);
  }
  const log = await readFile(logFile, 'utf8');
  throw new Error(`The gateway did not come up. The end of its log:\n${log.slice(-SHOWN_LOG_CHARS)}`);
}

/** Puts a relayer on a gateway's whitelist. @see docs/specification.md WHITELIST-1 */
export async function whitelist(
  url: string,
  { adminKey, address }: { readonly adminKey: string; readonly address: string },
): Promise<void> {
  const answer = await fetch(`${url}/admin/relayers`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-admin-key': adminKey },
    body: JSON.stringify({ address, label: 'bench' }),
  });
  const body = await answer.text();
  if (answer.status !== 201) throw new Error(`A relayer was not whitelisted: ${answer.status} ${body}`);
}

/** Gets access tokens of different users from a gateway's development issuer. @see docs/specification.md TOKEN-8 */
export async function fetchTokens(url: string, count: number): Promise<string[]> {
  const tokens: string[] = [];
  for (let user = 0; user < count; user += 1) {
    const answer = await fetch(`${url}/dev/identity/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ sub: `bench-user-${user}` }),
    });
    // The issuer speaks OAuth.
    const { access_token: token } = (await answer.json()) as { readonly access_token?: string };
    if (token === undefined) throw new Error('The development issuer gave no token.');
    tokens.push(token);
  }
  return tokens;
}
