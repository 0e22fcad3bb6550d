import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { REQUEST_STATUSES, type RequestRecord, type RequestStatus } from '@prism-gateway/protocol';
import { sized } from '@prism-gateway/testing/test-size';
import { afterEach, expect, test } from 'vitest';
import { createGatewayClient, type GatewayClient, readPage } from '../rigs/gatewayClient.ts';
import { createRelayers } from '../rigs/relayerClient.ts';
import { openStoresOf } from '../rigs/sqliteStores.ts';
import { evaluateEntry } from './evaluateEntry.ts';
import type { Entry } from './ledger.ts';
import { createLoad, type Load, runClient } from './load.ts';
import { startTarget, type Target } from './target.ts';

const KILLS = sized({ small: 2, long: 30 });
const CLIENTS = 20;
const RELAYERS = 4;
/** Records that are read at the same time in the end. */
const READERS = 20;
/** When a kill comes, in writes that are acknowledged after the load has begun or the gateway has come back. */
const KILL_AFTER = { from: 11, to: 150 };
/** How often the count of writes is looked at, in milliseconds. */
const LOOK_MS = 5;

const TABLES = {
  requests: 'service-requests-dev',
  relayers: 'service-relayers-dev',
  rateLimits: 'service-ratelimit-dev',
};

/** Acts to undo after a test, the latest first. */
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function prepare(processes: number) {
  const dataDir = await mkdtemp(join(tmpdir(), 'prism-kills-'));
  cleanups.push(() => rm(dataDir, { recursive: true, force: true }));
  const targets: Target[] = [];
  cleanups.push(() => Promise.all(targets.map((target) => target.end())));
  for (let i = 0; i < processes; i++) targets.push(await startTarget(dataDir));
  const client = createGatewayClient(CLIENTS);
  cleanups.push(async () => client.close());
  const relayers = await createRelayers(RELAYERS);
  const [first] = targets;
  const { url } = await (first as Target).current(); // There is one at least.
  const headers = { 'x-admin-key': 'change-me-admin-key' };
  for (const { address } of relayers) {
    const answer = await client.call(url, { method: 'POST', path: '/admin/relayers', json: { address }, headers });
    expect(answer.status).toBe(201);
  }
  return { dataDir, targets, load: createLoad({ client, relayers }) };
}

/** Kills one of the gateways, then one again, at random moments, while the clients go on. */
async function killUnderLoad(load: Load, targets: readonly Target[]): Promise<number> {
  const { progress } = load;
  let meanwhile = 0;
  const kills = async () => {
    for (let kill = 0; kill < KILLS; kill++) {
      const goal = progress.acknowledged + KILL_AFTER.from + Math.random() * (KILL_AFTER.to - KILL_AFTER.from);
      while (progress.acknowledged < goal) await pause(LOOK_MS);
      const before = progress.acknowledged;
      await targets[Math.floor(Math.random() * targets.length)]?.restart();
      meanwhile += progress.acknowledged - before;
    }
  };
  const killing = kills().finally(() => {
    progress.isOver = true;
  });
  // There are targets, and each client stays with its own.
  const clientOf = (i: number) => runClient(load, targets[i % targets.length] as Target);
  await Promise.all([killing, ...Array.from({ length: CLIENTS }, (_, i) => clientOf(i))]);
  return meanwhile;
}

async function readSigner(client: GatewayClient, url: string, signer: string): Promise<readonly RequestRecord[]> {
  return readPage(await client.call(url, { method: 'GET', path: '/requests', query: `?signer=${signer}` })).items;
}

interface Verdict {
  readonly faults: string[];
  readonly countByStatus: Record<RequestStatus, number>;
}

/** Reads every request that a client ever sent, and evaluates it. */
async function evaluateAll({ client, entries }: Load, url: string): Promise<Verdict> {
  const countByStatus = { pending: 0, processing: 0, success: 0, failed: 0 };
  const faults: string[] = [];
  const evaluate = async (entry: Entry) => {
    const found = await readSigner(client, url, entry.signer);
    for (const { status } of found) countByStatus[status]++;
    const fault = evaluateEntry(entry, found);
    if (fault !== undefined) faults.push(`${fault}: ${JSON.stringify({ found, created: entry.created })}`);
  };
  const waiting = [...entries];
  const reader = async () => {
    for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) await evaluate(entry);
  };
  await Promise.all(Array.from({ length: READERS }, reader));
  return { faults, countByStatus };
}

/** The file itself: sound, and its counts agree with its records. */
async function expectSound(dataDir: string, counted: Verdict['countByStatus']): Promise<void> {
  const file = join(dataDir, 'gateway-dev.db');
  const database = new DatabaseSync(file);
  expect(database.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
  const rows = database.prepare(`SELECT status, count(*) AS records FROM "${TABLES.requests}" GROUP BY status`).all();
  database.close();
  const stored = new Map(rows.map(({ status, records }) => [status, records]));
  expect(Object.fromEntries(REQUEST_STATUSES.map((status) => [status, stored.get(status) ?? 0]))).toEqual(counted);
  const stores = openStoresOf(file, TABLES);
  const stats = await stores.requests.stats().finally(() => stores.close());
  expect(stats.countByStatus).toEqual(counted);
}

test.each([
  { processes: 1, name: 'the gateway' },
  { processes: 2, name: 'one of two gateways on one file' },
])(`no acknowledged write is lost when $name is killed ${KILLS} times under load`, async ({ processes }) => {
  const { dataDir, targets, load } = await prepare(processes);
  const meanwhile = await killUnderLoad(load, targets);
  const { url } = await (targets[0] as Target).current(); // There is one at least.
  const { faults, countByStatus } = await evaluateAll(load, url);
  expect(faults).toEqual([]);
  expect(load.strange).toEqual([]);
  expect(load.progress.acknowledged).toBeGreaterThan(KILLS * 10);
  if (processes > 1) expect(meanwhile, 'writes that the other gateway took').toBeGreaterThan(KILLS);
  await Promise.all(targets.map((target) => target.end()));
  await expectSound(dataDir, countByStatus);
  const { acknowledged, unanswered } = load.progress;
  console.info(
    `kill loop: ${KILLS} kills, ${processes} process(es), ${acknowledged} acknowledged writes, ${meanwhile} of them during restarts, ${unanswered} unanswered calls, 0 lost`,
  );
});
