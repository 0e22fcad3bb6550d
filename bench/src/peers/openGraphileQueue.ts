import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import { Pool } from 'pg';
import type { PeerQueue } from './runPeer.ts';

const taskName = 'bench_empty';

/**
 * Opens graphile-worker on a PostgreSQL, with its defaults but for the concurrency: jobs are fetched and completed one by one.
 *
 * @param params where, and how many at once
 * @returns the queue, its worker at work
 */
export async function openGraphileQueue(params: {
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
