import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, open } from 'node:fs/promises';
import { join } from 'node:path';
import { findFreePort } from '@prism-gateway/testing';
import type { BenchContext } from '../benchContext.ts';
import { stopProcess } from './stopProcess.ts';
import { waitUntilReady } from './waitUntilReady.ts';
import { whitelistRelayers } from './whitelistRelayers.ts';

/** A gateway of its own, with a store of its own. */
export interface Gateway {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly adminKey: string;
}

/**
 * Limits that no run reaches: 0 would take the limiter out of what is measured.
 *
 * @see docs/specification.md LIMIT-6
 */
const rateLimits = {
  RATE_LIMIT_WRITES: '1000000000',
  RATE_LIMIT_READS: '1000000000',
  RATE_LIMIT_SIGN: '1000000000',
  RATE_LIMIT_WRITE_BYTES: '1000000000',
  RATE_LIMIT_CLAIMS: '1000000000',
  RATE_LIMIT_REPORTS: '1000000000',
  RATE_LIMIT_AUTH_FAILURES: '1000000000',
  RATE_LIMIT_ADMIN_FAILURES: '20',
};

/**
 * Starts the gateway as `npm start` does, on an empty store, and whitelists the bench's relayers.
 *
 * @param context the bench; the gateway is stopped by its cleanup
 * @param settings environment on top of the bench's own
 * @returns the gateway, ready to answer
 * @throws Error with the end of the gateway's log when it does not come up
 */
export async function startGateway(
  context: BenchContext,
  settings: Readonly<Record<string, string>> = {},
): Promise<Gateway> {
  const dir = await mkdtemp(join(context.dir, 'gateway-'));
  const port = await findFreePort();
  const adminKey = randomBytes(24).toString('hex');
  const log = await open(join(dir, 'log'), 'w');
  const { startCommand } = context;
  const child = spawn(process.execPath, [...startCommand.nodeFlags, ...profileFlags(context), startCommand.entry], {
    cwd: startCommand.root,
    env: {
      ...startCommand.env,
      PATH: process.env.PATH,
      HOST: '127.0.0.1',
      PORT: String(port),
      STAGE: 'dev',
      DATA_DIR: join(dir, 'data'),
      ADMIN_API_KEY: adminKey,
      LOG_LEVEL: context.options.logLevel,
      ...rateLimits,
      ...settings,
    },
    stdio: ['ignore', log.fd, log.fd],
  });
  context.cleanup.add(async () => {
    await stopProcess(child);
    await log.close();
  });
  const url = `http://127.0.0.1:${port}`;
  await waitUntilReady({ url, hasEnded: () => child.exitCode !== null, logFile: join(dir, 'log') });
  await whitelistRelayers({ url, adminKey, addresses: context.relayers.map((relayer) => relayer.address) });
  // A process that has answered has a pid.
  return { url, port, adminKey, pid: child.pid as number };
}

/** Flags that make Node write a CPU profile when the gateway ends. */
function profileFlags(context: BenchContext): string[] {
  const { profile } = context.options;
  return profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
}
