import { mkdtemp } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { startEmbedded } from '@prism-gateway/gateway/embedded-postgres';
import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import { Pool } from 'pg';
import type { BenchContext } from '../benchContext.ts';
import type { PeerQueue } from './runPeer.ts';
import { type Peer, tunePeer } from './tunePeer.ts';

/**
 * Starts a PostgreSQL of its own with its default, durable settings.
 *
 * @param context - the server is stopped and its data removed by its stack
 * @returns connection string
 */
export async function startPostgres({ options, stack }: Pick<BenchContext, 'options' | 'stack'>): Promise<string> {
  const folder = await mkdtemp(join(resolve(options.dir), 'prism-bench-postgres-'));
  // Where nothing is checked, a slow disk is not waited for.
  const server = await startEmbedded({ folder, isTemporary: true, flags: options.quick ? ['fsync=off'] : [] });
  stack.defer(() => server.stop());
  return server.url;
}

/** Starts graphile-worker on a PostgreSQL, by default one of its own. */
export async function startGraphilePeer(context: BenchContext, url?: string): Promise<Peer> {
  const connectionString = url ?? (await startPostgres(context));
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
  const logError = (error: Error) => console.error('PostgreSQL:', error.message);
  pool.on('error', logError);
  pool.on('connect', (client) => client.on('error', logError));
  return pool;
}
