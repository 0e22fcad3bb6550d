import { randomBytes } from 'node:crypto';
import type { CreateRequestBody, RequestRecord } from '@prism-gateway/protocol';
import { type Answered, type GatewayCall, type GatewayClient, updateCall } from '../rigs/gatewayClient.ts';
import type { RelayerClient } from '../rigs/relayerClient.ts';
import { writeRequestBody } from '../rigs/writeRequestBody.ts';
import { createEntry, type Entry, recordSighting, type SentReport } from './ledger.ts';
import type { Target } from './target.ts';

/** Requests that clients choose from when they claim: few, so that they meet. */
const NEWEST = 30;

/** Shared by the clients. */
export interface Load {
  readonly client: GatewayClient;
  readonly relayers: readonly RelayerClient[];
  readonly entries: Entry[];
  /** Writes that were acknowledged, calls that were not answered, and whether the clients are to stop. */
  readonly progress: { acknowledged: number; unanswered: number; isOver: boolean };
  /** Answers that nothing excuses. */
  readonly strange: string[];
}

/** The same books, as one client has them: it calls one gateway and waits for it while it is down. */
interface ClientLoad extends Load {
  readonly target: Target;
}

const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(Math.random() * list.length)];

/** Starts the books of a load. */
export function createLoad(parts: Pick<Load, 'client' | 'relayers'>): Load {
  return { ...parts, entries: [], progress: { acknowledged: 0, unanswered: 0, isOver: false }, strange: [] };
}

/** Makes a call to the client's gateway. @returns undefined when no whole answer came, which only a killed gateway excuses */
async function send(load: ClientLoad, call: GatewayCall): Promise<Answered | undefined> {
  const life = await load.target.current();
  try {
    const answer = await load.client.call(life.url, call);
    if (![200, 201, 409].includes(answer.status)) load.strange.push(`${answer.status} ${answer.text}`);
    return answer;
  } catch (error) {
    if (!life.isKilled) load.strange.push(`a gateway that was not killed did not answer: ${String(error)}`);
    load.progress.unanswered++;
    return undefined;
  }
}

// What these read was answered by 200 or 201, which always carry a record.
const recordOf = (answer: Answered) => JSON.parse(answer.text) as RequestRecord;

async function create(load: ClientLoad): Promise<void> {
  const signer = `0x${randomBytes(20).toString('hex')}`;
  const body: CreateRequestBody = writeRequestBody({ signer });
  const entry = createEntry(body, signer);
  load.entries.push(entry);
  const startedAt = performance.now();
  const answer = await send(load, { method: 'POST', path: '/requests', json: body });
  if (answer?.status !== 201) return;
  load.progress.acknowledged++;
  entry.created = recordOf(answer);
  recordSighting(entry, entry.created, startedAt);
}

async function claim(load: ClientLoad, { entry, relayer }: { entry: Entry; relayer: RelayerClient }): Promise<void> {
  if (entry.created === undefined) return;
  entry.claimers.add(relayer.address);
  const startedAt = performance.now();
  const answer = await send(load, updateCall(entry.created.requestId, { status: 'processing' }, relayer));
  if (answer?.status === 409) entry.wasRefused = true;
  if (answer?.status !== 200) return;
  load.progress.acknowledged++;
  entry.owners.add(relayer.address);
  recordSighting(entry, recordOf(answer), startedAt);
}

function anyReport(): SentReport {
  if (Math.random() < 0.5) return { status: 'success', txHash: `0x${randomBytes(32).toString('hex')}` };
  return { status: 'failed', errorMessage: `the Forwarder reverted: ${randomBytes(8).toString('hex')}` };
}

async function report(load: ClientLoad, { entry, relayer }: { entry: Entry; relayer: RelayerClient }): Promise<void> {
  if (entry.created === undefined) return;
  const sent = anyReport();
  const startedAt = performance.now();
  // It stands in the ledger before it is sent: a kill may come at any moment after.
  const index = entry.reports.push({ relayer: relayer.address, report: sent, isAcknowledged: false }) - 1;
  const answer = await send(load, updateCall(entry.created.requestId, sent, relayer));
  if (answer?.status !== 200) return;
  load.progress.acknowledged++;
  entry.reports[index] = { relayer: relayer.address, report: sent, isAcknowledged: true };
  recordSighting(entry, recordOf(answer), startedAt);
}

async function look(load: ClientLoad, entry: Entry): Promise<void> {
  if (entry.created === undefined) return;
  const startedAt = performance.now();
  const answer = await send(load, { method: 'GET', path: `/requests/${entry.created.requestId}` });
  if (answer?.status === 200) recordSighting(entry, recordOf(answer), startedAt);
}

/** One client: it creates, claims, reports and looks, in a random mix, until the load is over. */
export async function runClient(books: Load, target: Target): Promise<void> {
  const load = { ...books, target };
  while (!load.progress.isOver) {
    const dice = Math.random();
    const entry = pick(dice < 0.95 ? load.entries.slice(-NEWEST) : load.entries);
    const relayer = pick(load.relayers) as RelayerClient; // There are some.
    if (entry === undefined || dice < 0.3) await create(load);
    else if (dice < 0.6) await claim(load, { entry, relayer });
    else if (dice < 0.85) {
      // Mostly the owner; now and then somebody whose report must be refused.
      const owner = load.relayers.find(({ address }) => entry.owners.has(address));
      await report(load, { entry, relayer: dice < 0.82 && owner ? owner : relayer });
    } else await look(load, entry);
  }
}
