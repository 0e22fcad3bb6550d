/**
 * Measures a backup under load: a database of a given size, writes at a given rate, and the latency of POST with and without a backup.
 *
 *     npm run bench -- backup [--quick] [--megabytes 1000] [--rate 1000]
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startGateway } from '@prism-gateway/testing';
import { openSqliteStores } from '../src/drivers/sqlite/openSqliteStores.ts';
import { createWorkerThread } from '../src/entry/workerThread/createWorkerThread.ts';
import type { StoredRequest } from '../src/ports/requestStore.ts';
import { runBackup } from '../test/backup/runBackup.ts';
import { createGatewayClient } from '../test/rigs/gatewayClient.ts';
import { writeRequestBody } from '../test/rigs/writeRequestBody.ts';

const TICK_MS = 10;
/** Records that are stored together while the database is filled. */
const GROUP = 2000;
const tables = {
  requests: 'service-requests-dev',
  relayers: 'service-relayers-dev',
  rateLimits: 'service-ratelimit-dev',
};

/** A record of some 2 kB, as data of a user are. */
function makeRecord(createdAt: number): StoredRequest {
  const signer = `0x${randomBytes(20).toString('hex')}`;
  const paramsJson = JSON.stringify({ signer, payload: `0x${randomBytes(700).toString('hex')}` });
  const fields = { requestId: randomUUID(), chainName: 'eip155:31337', action: 'WRITE_DATA_FOR' } as const;
  return { ...fields, signer, status: 'pending', paramsJson, createdAt, updatedAt: createdAt };
}

async function fill(file: string, megabytes: number): Promise<void> {
  const thread = createWorkerThread();
  const stores = openSqliteStores({
    file,
    tables,
    thread,
    requestRetentionDays: 0,
    pendingRetentionDays: 0,
    now: Date.now,
  });
  for (let stored = 0; statSync(file).size < megabytes * 1e6; stored += GROUP) {
    const records = Array.from({ length: GROUP }, (_, index) => makeRecord(1_700_000_000_000 + stored + index));
    await Promise.all(records.map((record) => stores.requests.create(record)));
  }
  await stores.close();
  await thread.close();
}

/** Posts at a rate, whether the gateway keeps up or not; each post is timed from when it was due. */
function startLoad(url: string, rate: number) {
  const client = createGatewayClient(64);
  let latencies: number[] = [];
  const posts: Promise<void>[] = [];
  async function post(dueMs: number): Promise<void> {
    const { status } = await client.call(url, { method: 'POST', path: '/requests', json: writeRequestBody() });
    if (status !== 201) throw new Error(`POST answered ${status}`);
    latencies.push(performance.now() - dueMs);
  }
  const startedMs = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - startedMs) * rate) / 1000);
    for (; sent < due; sent++) posts.push(post(startedMs + (sent * 1000) / rate));
  }, TICK_MS);
  return {
    take() {
      const taken = latencies.sort((a, b) => a - b);
      latencies = [];
      const at = (share: number) => Math.round((taken[Math.floor(taken.length * share)] ?? 0) * 10) / 10;
      return { posts: taken.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(0.9999) };
    },
    async stop() {
      clearInterval(timer);
      await Promise.all(posts);
      client.close();
    },
  };
}

const { values } = parseArgs({
  options: { megabytes: { type: 'string' }, rate: { type: 'string' }, quick: { type: 'boolean', default: false } },
});
/** The quick form shows that all of it runs; its figures say nothing. */
const usual = values.quick
  ? { megabytes: '20', rate: '50', baselineMs: 1000 }
  : { megabytes: '1000', rate: '1000', baselineMs: 15_000 };
const { megabytes = usual.megabytes, rate = usual.rate } = values;
/** The promised bounds: seconds, and how much slower the slowest POST of a hundred may be meanwhile. */
const MOST_SECONDS = 10;
const MOST_TIMES = 2;
const evaluate = (isKept: boolean) => (values.quick ? 'not checked' : isKept ? 'kept' : 'MISSED');
const root = mkdtempSync(join(tmpdir(), 'prism-measure-backup-'));
try {
  const dataDir = join(root, 'data');
  const gateway = await startGateway({ dataDir });
  await gateway.stop();
  await fill(join(dataDir, 'gateway-dev.db'), Number(megabytes));
  const running = await startGateway({ dataDir });
  const load = startLoad(running.url, Number(rate));
  const wait = () => new Promise((resolve) => setTimeout(resolve, usual.baselineMs));
  await wait();
  load.take();
  await wait();
  const before = load.take();
  console.log('before', before);
  const { stdout, stderr } = await runBackup('backup', {
    args: [join(root, 'backups'), '--json'],
    env: { DATA_DIR: dataDir },
  });
  const during = load.take();
  console.log('during', during);
  await wait();
  console.log('after ', load.take());
  if (stdout === '') throw new Error(stderr);
  const { seconds, database } = JSON.parse(stdout);
  const size = `${Math.round(database.bytes / 1e6)} MB at ${rate} posts/s`;
  console.log(`backup of ${size} in ${seconds.toFixed(1)} s: ${MOST_SECONDS} s ${evaluate(seconds <= MOST_SECONDS)}`);
  const times = during.p99Ms / before.p99Ms;
  console.log(`POST p99 ${times.toFixed(2)} times that of before: ${MOST_TIMES} ${evaluate(times <= MOST_TIMES)}`);
  await load.stop();
  await running.kill();
} finally {
  rmSync(root, { recursive: true });
}
