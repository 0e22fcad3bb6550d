import { execFile, spawn } from 'node:child_process';
import { chown, mkdir, mkdtemp, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findFreePort } from '@prism-gateway/testing';
import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import { Client, Pool } from 'pg';
import type { BenchContext } from '../benchContext.ts';
import { ownChild } from '../processes/ownChild.ts';
import { findBinary } from './findBinary.ts';
import { PeerMissingError } from './PeerMissingError.ts';
import type { PeerQueue } from './runPeer.ts';
import { type Peer, tunePeer } from './tunePeer.ts';

/**
 * Starts graphile-worker on a PostgreSQL of its own.
 *
 * @throws PeerMissingError (`PEER_MISSING`)
 */
export async function startGraphilePeer(context: BenchContext): Promise<Peer> {
  const connectionString = await startPostgres(context);
  return await tunePeer(context, {
    ...{ title: 'graphile-worker on PostgreSQL', bound: 3, batchBound: 5, count: context.scale.graphileJobs },
    // PostgreSQL takes 100 connections by default, and graphile-worker two for each job at once.
    candidates: context.options.quick ? [8] : [2, 4, 8, 16, 32],
    open: (concurrency) => openGraphileQueue({ connectionString, concurrency }),
  });
}

const taskName = 'bench_empty';

/**
 * Opens graphile-worker on a PostgreSQL, with its defaults but for the concurrency: jobs are fetched and completed one by one.
 *
 * @param params where, and how many at once
 * @returns the queue, its worker at work
 */
async function openGraphileQueue(params: {
  readonly connectionString: string;
  readonly concurrency: number;
}): Promise<PeerQueue> {
  const { connectionString, concurrency } = params;
  const logger = new Logger(() => () => {});
  // The worker listens on one connection of its own, and one adds jobs.
  const pgPool = openPool(connectionString, concurrency + 2);
  const utils = await makeWorkerUtils({ pgPool, logger });
  await utils.migrate();
  const runner = await run({
    pgPool,
    concurrency,
    logger,
    noHandleSignals: true,
    taskList: { [taskName]: async () => {} },
  });
  return {
    add: async () => (await utils.addJob(taskName, {})).id,
    onDone: (listener) => {
      runner.events.on('job:complete', ({ job }) => listener(job.id));
    },
    async close() {
      await runner.stop();
      await utils.release();
      await pgPool.end();
    },
  };
}

/** The library asks that a pool's errors, and its connections', be listened to. */
function openPool(connectionString: string, max: number): Pool {
  const pool = new Pool({ connectionString, max });
  const tell = (error: Error) => console.error('PostgreSQL:', error.message);
  pool.on('error', tell);
  pool.on('connect', (client) => client.on('error', tell));
  return pool;
}

const startTimeoutMs = 20_000;
const pollMs = 50;

/** PostgreSQL refuses to run as root; it is run as this user then. */
const systemUser = 'postgres';

/**
 * Starts a PostgreSQL of its own with its default, durable settings, on 127.0.0.1 only.
 *
 * @param context the bench; the server is stopped and its data removed by its stack
 * @returns connection string
 * @throws PeerMissingError (`PEER_MISSING`)
 */
async function startPostgres(context: BenchContext): Promise<string> {
  const initdb = await findBinary('initdb');
  const postgres = await findBinary('postgres');
  if (initdb === undefined || postgres === undefined) throw new PeerMissingError('PostgreSQL', 'postgresql');
  const identity = await findIdentity();
  const dir = await makeFolder(context, identity);

  await promisify(execFile)(initdb, ['-D', join(dir, 'data'), '-U', 'postgres', '--auth=trust'], {
    ...identity,
    cwd: dir,
  });
  const port = await findFreePort();
  const log = await open(join(dir, 'log'), 'w');
  const server = spawn(
    postgres,
    ['-D', join(dir, 'data'), '-p', String(port), '-c', 'listen_addresses=127.0.0.1', '-k', dir],
    { ...identity, cwd: dir, stdio: ['ignore', log.fd, log.fd] },
  );
  await log.close();
  // It is PostgreSQL's "fast shutdown": it does not wait for clients to leave.
  ownChild(context.stack, server, { folder: dir, signal: 'SIGINT' });
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  await waitUntilConnected(url, { logFile: join(dir, 'log'), hasEnded: () => server.exitCode !== null });
  return url;
}

interface Identity {
  readonly uid?: number;
  readonly gid?: number;
}

/** The user to run PostgreSQL as: ourselves, unless we are root. */
async function findIdentity(): Promise<Identity> {
  if (process.getuid?.() !== 0) return {};
  const line = (await readFile('/etc/passwd', 'utf8')).split('\n').find((entry) => entry.startsWith(`${systemUser}:`));
  if (line === undefined) throw new PeerMissingError('PostgreSQL', 'postgresql');
  const [, , uid, gid] = line.split(':').map(Number);
  // Every line of passwd has these fields.
  return { uid: uid!, gid: gid! };
}

/** A folder that the server's user can reach, which the bench's own, closed to others, is not. */
async function makeFolder(context: BenchContext, identity: Identity): Promise<string> {
  const dir = await mkdtemp(join(context.options.dir, 'bench-postgres-'));
  await mkdir(join(dir, 'data'), { mode: 0o700 });
  if (identity.uid !== undefined && identity.gid !== undefined) {
    await chown(dir, identity.uid, identity.gid);
    await chown(join(dir, 'data'), identity.uid, identity.gid);
  }
  return dir;
}

async function waitUntilConnected(
  connectionString: string,
  server: { readonly logFile: string; readonly hasEnded: () => boolean },
): Promise<void> {
  const deadline = performance.now() + startTimeoutMs;
  while (performance.now() < deadline && !server.hasEnded()) {
    const client = new Client({ connectionString });
    try {
      await client.connect();
      await client.end();
      return;
    } catch {
      await sleep(pollMs);
    }
  }
  throw new Error(`PostgreSQL did not come up:\n${await readFile(server.logFile, 'utf8')}`);
}
