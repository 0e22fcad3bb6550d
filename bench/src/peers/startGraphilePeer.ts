import { mkdtemp } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { startEmbedded } from '@prism-gateway/gateway/embedded-postgres';
import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import { Pool } from 'pg';
import type { BenchContext } from '../benchContext.ts';

/** graphile-worker, tuned: adds empty jobs one by one, and its own worker runs each and marks it done. */
export interface GraphilePeer {
  readonly title: string;
  /** The settings chosen for it. */
  readonly describe: string;
  /** Jobs done a second. */
  run(): Promise<number>;
}

/** Share of the jobs that is run before the clock starts. */
const WARM_UP_SHARE = 0.2;
const TASK = 'bench_empty';

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

/** Starts graphile-worker on a PostgreSQL, by default one of its own, and finds the concurrency at which it is fastest on this machine. */
export async function startGraphilePeer(context: BenchContext, url?: string): Promise<GraphilePeer> {
  const { options, scale } = context;
  const connectionString = url ?? (await startPostgres(context));
  const title = 'graphile-worker on PostgreSQL';
  console.error(`  tuning ${title}`);
  const lanes = options.connections;
  const runWith = (concurrency: number) => runJobs({ connectionString, concurrency, lanes, count: scale.graphileJobs });
  let [best, bestPerSecond] = [0, 0];
  // PostgreSQL takes 100 connections by default, and graphile-worker two for each job at once.
  const candidates = options.quick ? [8] : [2, 4, 8, 16, 32];
  for (const concurrency of candidates) {
    const perSecond = await runWith(concurrency);
    if (perSecond > bestPerSecond) [best, bestPerSecond] = [concurrency, perSecond];
  }
  const describe = `${lanes} jobs in flight as we have requests; best concurrency of ${candidates.join(', ')}: ${best}`;
  return { title, describe, run: () => runWith(best) };
}

interface JobRun {
  readonly connectionString: string;
  /** Jobs that the worker runs at once. */
  readonly concurrency: number;
  /** Jobs in flight at once, and how many there are. */
  readonly lanes: number;
  readonly count: number;
}

/**
 * Adds jobs, each lane the next one when its last one is done, once to warm up and once for the clock; with the worker's defaults but for the
 * concurrency: jobs are fetched and completed one by one.
 *
 * @returns jobs done a second
 */
async function runJobs({ connectionString, concurrency, lanes, count }: JobRun): Promise<number> {
  const logger = new Logger(() => () => {});
  // The worker listens on one connection of its own, and one adds jobs.
  const pgPool = openPool(connectionString, concurrency + 2);
  const utils = await makeWorkerUtils({ pgPool, logger });
  await utils.migrate();
  const runner = await run({
    ...{ pgPool, concurrency, logger, noHandleSignals: true },
    taskList: { [TASK]: async () => {} },
  });
  // A job may be done before its lane has learnt its id.
  const done = new Map<string, PromiseWithResolvers<void>>();
  const stateOf = (id: string) => {
    const state = done.get(id) ?? Promise.withResolvers<void>();
    done.set(id, state);
    return state;
  };
  runner.events.on('job:complete', ({ job }) => stateOf(job.id).resolve());
  async function addJobs(jobs: number): Promise<void> {
    let added = 0;
    const addInTurn = async () => {
      while (added++ < jobs) {
        const { id } = await utils.addJob(TASK, {});
        await stateOf(id).promise;
        done.delete(id);
      }
    };
    await Promise.all(Array.from({ length: lanes }, addInTurn));
  }
  try {
    await addJobs(Math.ceil(count * WARM_UP_SHARE));
    const startedAt = performance.now();
    await addJobs(count);
    return (count / (performance.now() - startedAt)) * 1000;
  } finally {
    await runner.stop();
    await utils.release();
    await pgPool.end();
  }
}

/** The library asks that a pool's errors, and its connections', be listened to. */
function openPool(connectionString: string, max: number): Pool {
  const pool = new Pool({ connectionString, max });
  const logError = (error: Error) => console.error('PostgreSQL:', error.message);
  pool.on('error', logError);
  pool.on('connect', (client) => client.on('error', logError));
  return pool;
}
