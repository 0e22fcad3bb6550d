import { randomBytes } from 'node:crypto';
import type { RequestPage, RequestRecord } from '@prism-gateway/protocol';
import { createEntry, type Entry, noteSighting, type SentReport } from '../kills/ledger.ts';
import { updateCall } from '../rigs/gatewayClient.ts';
import type { RelayerClient } from '../rigs/relayerClient.ts';
import { writeRequestBody } from '../rigs/writeRequestBody.ts';
import type { Door, DoorAnswer } from './door.ts';
import type { Witness } from './witness.ts';

/** Requests of a page that a relayer goes for at the same time. */
const CLAIMS_AT_ONCE = 6;
/** One request in so many carries params that have an item of their own. */
const LARGE_EVERY = 8;
/** Bytes of such params. */
const LARGE_BYTES = 5000;
/** One lost claim in so many is followed by a report all the same, which must be refused. */
const FOREIGN_REPORT_EVERY = 5;

/** What one relayer was told by its tries to claim one request, in order. */
export type ClaimAnswers = readonly number[];

/** All that clients know of one request. */
export interface QueueEntry extends Entry {
  /** By the relayer's address. */
  readonly claimAnswers: Map<string, number[]>;
}

/** What all clients of the queue share. */
export interface QueueLoad {
  readonly witness: Witness;
  readonly doors: readonly Door[];
  readonly relayers: readonly RelayerClient[];
  /** By the signer, of whom each has one request. */
  readonly entries: Map<string, QueueEntry>;
  /** Creations that were acknowledged, how many there shall be, and how many are under way. */
  readonly creations: { acknowledged: number; readonly wanted: number; pending: number };
  /** Owners and reporters who were answered 409 after a 503, and found by reading that it was their own doing. */
  readonly readBacks: { claims: number; reports: number };
  /** What clients saw that must not be. */
  readonly wrongs: string[];
}

/** Starts the books of a load. */
export function createQueueLoad(
  parts: Pick<QueueLoad, 'witness' | 'doors' | 'relayers'> & { readonly wanted: number },
): QueueLoad {
  const { wanted, ...shared } = parts;
  return {
    ...shared,
    entries: new Map(),
    creations: { acknowledged: 0, wanted, pending: 0 },
    readBacks: { claims: 0, reports: 0 },
    wrongs: [],
  };
}

// What these read was answered by 200 or 201, which always carry that.
const recordOf = ({ text }: DoorAnswer) => JSON.parse(text) as RequestRecord;
const pageOf = ({ text }: DoorAnswer) => JSON.parse(text) as RequestPage;

const isEnough = ({ creations }: QueueLoad) => creations.acknowledged >= creations.wanted;

function anyBody(index: number, signer: string) {
  const body = writeRequestBody({ signer });
  if (index % LARGE_EVERY !== 0) return body;
  return {
    ...body,
    params: { ...body.params, payload: `0x${randomBytes(LARGE_BYTES).toString('hex')}` },
  } as typeof body;
}

/** One user: posts distinct requests until as many as wanted are acknowledged. A 503 is not asked again: another one is posted. */
export async function runCreator(load: QueueLoad, door: Door): Promise<void> {
  while (!isEnough(load)) {
    const signer = `0x${randomBytes(20).toString('hex')}`;
    const body = anyBody(load.entries.size, signer);
    const entry: QueueEntry = { ...createEntry(body, signer), claimAnswers: new Map() };
    load.entries.set(signer, entry);
    const startedAt = performance.now();
    load.creations.pending++;
    const answer = await load.witness.ask(door, { method: 'POST', path: '/requests', json: body });
    load.creations.pending--;
    if (answer.status !== 201) continue;
    entry.created = recordOf(answer);
    load.creations.acknowledged++;
    noteSighting(entry, entry.created, startedAt);
  }
}

/** One relayer at one request. */
interface Attempt {
  readonly load: QueueLoad;
  readonly door: Door;
  readonly relayer: RelayerClient;
  readonly entry: QueueEntry;
  readonly requestId: string;
}

/** Reads a request as it stands: what a client does whose 503 was followed by 409. */
async function readBack({ load, door, entry, requestId }: Attempt): Promise<RequestRecord> {
  const startedAt = performance.now();
  const record = recordOf(await load.witness.insist(door, { method: 'GET', path: `/requests/${requestId}` }));
  noteSighting(entry, record, startedAt);
  return record;
}

/** Claims until it is 200 or 409. @returns whether the claim is this relayer's */
async function claim(attempt: Attempt): Promise<boolean> {
  const { load, door, relayer, entry, requestId } = attempt;
  entry.claimers.add(relayer.address);
  const startedAt = performance.now();
  const answer = await load.witness.insist(door, updateCall(requestId, { status: 'processing' }, relayer));
  entry.claimAnswers.set(relayer.address, [...(answer.wasUnknown ? [503] : []), answer.status]);
  if (answer.status === 200) {
    entry.owners.add(relayer.address);
    noteSighting(entry, recordOf(answer), startedAt);
    return true;
  }
  entry.wasRefused = true;
  if (!answer.wasUnknown) return false;
  const isOwn = (await readBack(attempt)).claimedBy?.toLowerCase() === relayer.address;
  if (isOwn) load.readBacks.claims++;
  return isOwn;
}

function anyReport(): SentReport {
  if (Math.random() < 0.5) return { status: 'success', txHash: `0x${randomBytes(32).toString('hex')}` };
  return { status: 'failed', errorMessage: `the Forwarder reverted: ${randomBytes(8).toString('hex')}` };
}

/** Reports until it is 200 or 409. The owner's must be taken, anybody else's refused. */
async function report(attempt: Attempt, isOwner: boolean): Promise<void> {
  const { load, door, relayer, entry, requestId } = attempt;
  const sent = anyReport();
  // It stands in the ledger before it is sent.
  const index = entry.reports.push({ relayer: relayer.address, report: sent, isAcknowledged: false }) - 1;
  const startedAt = performance.now();
  const answer = await load.witness.insist(door, updateCall(requestId, sent, relayer));
  if (answer.status === 200) {
    entry.reports[index] = { relayer: relayer.address, report: sent, isAcknowledged: true };
    noteSighting(entry, recordOf(answer), startedAt);
    if (!isOwner) load.wrongs.push(`a report by another than the owner was taken: ${answer.text}`);
    return;
  }
  if (!isOwner) return;
  const stands = await readBack(attempt);
  const isOwn = stands.status === sent.status && stands.txHash === ('txHash' in sent ? sent.txHash : undefined);
  if (answer.wasUnknown && isOwn) load.readBacks.reports++;
  else load.wrongs.push(`the owner's report was refused: ${answer.text}`);
}

async function work(attempt: Attempt): Promise<void> {
  if (await claim(attempt)) await report(attempt, true);
  else if (Math.random() < 1 / FOREIGN_REPORT_EVERY) await report(attempt, false);
}

/** Which requests of a page a relayer goes for: the oldest, which all others go for, too. */
function pickAttempts(load: QueueLoad, page: RequestPage, tried: Set<string>) {
  return page.items
    .flatMap(({ requestId, signer }) => {
      const entry = load.entries.get(signer);
      if (entry === undefined) load.wrongs.push(`nobody ever posted what is listed as ${requestId}`);
      return entry === undefined || tried.has(requestId) ? [] : [{ requestId, entry }];
    })
    .slice(0, CLAIMS_AT_ONCE);
}

/** One relayer: lists what is pending, claims, reports, until nothing more comes. */
export async function runRelayer(load: QueueLoad, { door, relayer }: Pick<Attempt, 'door' | 'relayer'>): Promise<void> {
  const tried = new Set<string>();
  for (;;) {
    const isLastRound = isEnough(load) && load.creations.pending === 0;
    const startedAt = performance.now();
    const list = { method: 'GET', path: '/requests', query: '?status=pending&limit=20', relayer } as const;
    const page = pageOf(await load.witness.insist(door, list));
    for (const record of page.items) {
      const entry = load.entries.get(record.signer);
      if (entry !== undefined) noteSighting(entry, record, startedAt);
    }
    if (isLastRound && page.items.length === 0 && page.lastKey === null) return;
    const picked = pickAttempts(load, page, tried);
    for (const { requestId } of picked) tried.add(requestId);
    await Promise.all(picked.map((one) => work({ load, door, relayer, ...one })));
  }
}
