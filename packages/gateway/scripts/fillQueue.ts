/**
 * Stores requests in a gateway's database by the store's own code, as fast as it goes: bodies of `POST /requests` come in as lines of
 * JSON. The gateway may run meanwhile.
 *
 *     node packages/gateway/scripts/fillQueue.ts DATA_DIR < bodies.jsonl
 *     node packages/gateway/scripts/fillQueue.ts postgres://… < bodies.jsonl
 */
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createRequestParser } from '@prism-gateway/protocol';
import { createUuidV7Source } from '../src/createUuidV7Source.ts';
import { openPostgresStores } from '../src/drivers/postgres/openPostgresStores.ts';
import { openSqliteStores } from '../src/drivers/sqlite/openSqliteStores.ts';
import { createWorkerThread } from '../src/entry/workerThread/createWorkerThread.ts';
import { createRequest } from '../src/requests/create.ts';

/** Requests that are stored together: few waits for the disk. */
const GROUP = 1000;

const tables = {
  requests: 'service-requests-dev',
  relayers: 'service-relayers-dev',
  rateLimits: 'service-ratelimit-dev',
};

const [dataDir] = process.argv.slice(2);
if (dataDir === undefined) throw new Error('Name the data directory, or the database.');
const now = Date.now;
const thread = createWorkerThread();
const kept = { tables, requestRetentionDays: 0, pendingRetentionDays: 0, now };
const stores = dataDir.startsWith('postgres://')
  ? await openPostgresStores({ url: dataDir, poolSize: 1, ...kept })
  : openSqliteStores({ file: join(dataDir, 'gateway-dev.db'), thread, ...kept });
const parse = createRequestParser({ maxBatchSize: 100 });
const ports = { requests: stores.requests, newId: createUuidV7Source(now), now };

async function storeLine(line: string): Promise<void> {
  const parsed = parse(JSON.parse(line));
  if ('faults' in parsed) throw new Error(`No request: ${JSON.stringify(parsed.faults)} in ${line}`);
  await createRequest(ports, { body: parsed.value, once: false });
}

let stored = 0;
let group: Promise<void>[] = [];
for await (const line of createInterface({ input: process.stdin })) {
  group.push(storeLine(line));
  if (group.length < GROUP) continue;
  await Promise.all(group);
  stored += group.length;
  group = [];
}
await Promise.all(group);
await stores.close();
await thread.close();
console.log(stored + group.length);
