import { DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import type { RequestRecord } from '@prism-gateway/protocol';
import { createDynamoClient } from '../../src/drivers/dynamodb/createDynamoClient.ts';
import { createDynamoStores } from '../../src/drivers/dynamodb/createDynamoStores.ts';
import { renderRecord } from '../../src/http/render.ts';
import { judgeEntry } from '../kills/judgeEntry.ts';
import type { Door } from './door.ts';
import type { QueueEntry, QueueLoad } from './queueLoad.ts';
import type { FaultyWorld } from './startFaultyWorld.ts';

/** Requests that are judged at the same time. */
const JUDGES = 20;

/** What the queue has come to, by its worst sides. */
export interface Verdict {
  /** Acknowledged creations, claims and reports that do not stand, and statuses that went back. */
  readonly lost: string[];
  /** Requests of which two claims were acknowledged. */
  readonly double: string[];
  /** Owners whose first answer was 409. */
  readonly wrong409: string[];
  /** Differences between the table as it lies and what is told over HTTP. */
  readonly apart: string[];
  /** Requests in the table. */
  readonly stored: number;
}

/** A request as it lies in the table, read by nothing of ours. */
interface Lying {
  readonly requestId: string;
  readonly status: string | undefined;
  readonly claimedBy: string | undefined;
}

/** Scans the table itself. @returns the requests of each signer */
async function scanBySigner({ directly, tables }: FaultyWorld): Promise<Map<string, Lying[]>> {
  const client = new DynamoDBClient(directly);
  const bySigner = new Map<string, Lying[]>();
  for await (const { Items = [] } of paginateScan({ client }, { TableName: tables.requests, ConsistentRead: true })) {
    for (const { requestId, signer, status, claimedBy } of Items) {
      // Params with an item of their own have no signer.
      if (signer?.S === undefined || requestId?.S === undefined) continue;
      const lying = { requestId: requestId.S, status: status?.S, claimedBy: claimedBy?.S };
      bySigner.set(signer.S, [...(bySigner.get(signer.S) ?? []), lying]);
    }
  }
  client.destroy();
  return bySigner;
}

/** A claim's owner was told 409, and no 503 before had left it in doubt: what must never be. */
function findWrong409({ claimAnswers }: QueueEntry, record: RequestRecord): string | undefined {
  const answers = claimAnswers.get(record.claimedBy?.toLowerCase() ?? '');
  return answers?.[0] === 409 ? `the owner of ${record.requestId} was told ${answers.join(', ')}` : undefined;
}

/** Compares what lies in the table, what is told over HTTP, and what clients know. Nothing may befall calls any more. */
export async function judgeQueue(load: QueueLoad, world: FaultyWorld, door: Door): Promise<Verdict> {
  const verdict = { lost: [] as string[], double: [] as string[], wrong409: [] as string[], apart: [] as string[] };
  const bySigner = await scanBySigner(world);
  const stores = createDynamoStores({
    client: createDynamoClient(world.directly),
    tables: world.tables,
    indexShards: 4,
    requestRetentionDays: 0,
    pendingRetentionDays: 0,
    now: Date.now,
  });

  /** Reads again where the engine was too slow for the gateway's time limits: on a busy machine that is no fault. */
  async function insist(path: string): ReturnType<Door['send']> {
    for (;;) {
      const answer = await door.send({ method: 'GET', path });
      if (answer.status !== 503) return answer;
    }
  }

  async function read(lying: Lying): Promise<RequestRecord> {
    const answer = await insist(`/requests/${lying.requestId}`);
    const stored = await stores.requests.get(lying.requestId);
    if (answer.status !== 200 || stored === undefined || answer.text !== renderRecord(stored)) {
      verdict.apart.push(`${lying.requestId} is answered ${answer.status} ${answer.text}`);
    }
    // Where it is none, the comparison above has said so.
    const record = JSON.parse(answer.text) as RequestRecord;
    if (record.status !== lying.status || record.claimedBy !== lying.claimedBy) {
      verdict.apart.push(`${lying.requestId} lies as ${JSON.stringify(lying)} and is told as ${answer.text}`);
    }
    return record;
  }

  async function judge(entry: QueueEntry): Promise<void> {
    const found = await Promise.all((bySigner.get(entry.signer) ?? []).map(read));
    if (entry.owners.size > 1) verdict.double.push(`${entry.created?.requestId}: ${[...entry.owners].join(', ')}`);
    const fault = judgeEntry(entry, found);
    if (fault !== undefined) verdict.lost.push(`${fault}: ${JSON.stringify({ found, created: entry.created })}`);
    for (const record of found) {
      const wrong = findWrong409(entry, record);
      if (wrong !== undefined) verdict.wrong409.push(wrong);
      // Relayers look until nothing is pending, and owners insist: nothing that was acknowledged is left half done.
      const isFinished = record.status === 'success' || record.status === 'failed';
      if (entry.created && !isFinished) verdict.lost.push(`left behind: ${record.requestId}`);
    }
  }

  const waiting = [...load.entries.values()];
  async function judgeInTurn(): Promise<void> {
    for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) await judge(entry);
  }
  await Promise.all(Array.from({ length: JUDGES }, judgeInTurn)).finally(() => stores.close());
  const stored = [...bySigner.values()].reduce((sum, lying) => sum + lying.length, 0);
  return { ...verdict, stored };
}
