import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestRecord } from '@prism-gateway/protocol';
import type { GatewayClient } from '@prism-gateway/sdk';
import { DemoError } from '../demoError.ts';
import { countEnded, countRecords, type Tally } from './tally.ts';

/** What is watched. */
export interface WatchOptions {
  readonly gateway: GatewayClient;
  /** Addresses whose requests are looked at; the lists of signers are public. */
  readonly signers: readonly string[];
  /** How many requests there will be. */
  readonly total: number;
  /** Told after each look, and awaited: nothing is looked at meanwhile. */
  readonly onTally: (tally: Tally) => Promise<void>;
  readonly signal: AbortSignal;
}

const POLL_INTERVAL_MS = 100;
/** Longest time in which no request ends: far more than a restart takes. */
const STALL_MS = 60_000;
const PAGE_SIZE = 100;

async function readRecords({ gateway, signers, signal }: WatchOptions): Promise<ReadonlyMap<string, RequestRecord>> {
  const lists = signers.map(async (signer) => {
    const records: RequestRecord[] = [];
    for await (const record of gateway.listRequests({ signer, limit: PAGE_SIZE }, { signal })) records.push(record);
    return records;
  });
  const records = (await Promise.all(lists)).flat();
  return new Map(records.map((record) => [record.requestId, record]));
}

/** A request that failed leaves its user's later ones without their turn: there is nothing more to wait for. */
function refuseFailures({ records }: Tally): void {
  const failed = [...records.values()].find(({ status }) => status === 'failed');
  if (failed === undefined) return;
  const { action, requestId, errorMessage } = failed;
  throw new DemoError('REQUEST_FAILED', `${action} ${requestId} failed: ${errorMessage}`);
}

function createStallError({ records }: Tally, total: number): DemoError {
  const open = [...records.values()].filter(({ status }) => status === 'pending' || status === 'processing');
  const first = open.slice(0, 3).map(({ action, requestId, status }) => `${action} ${requestId} ${status}`);
  const message = `${open.length} of ${total} requests have not ended, and nothing moves: ${first.join(', ')} …`;
  return new DemoError('REQUESTS_OPEN', message);
}

/**
 * Watches the gateway until all requests have ended.
 *
 * @param options - see each field
 * @returns where they stand then
 * @throws DemoError `REQUEST_FAILED`, or `REQUESTS_OPEN` where nothing ends any more; GatewayError; the signal's reason
 */
export async function watchRequests(options: WatchOptions): Promise<Tally> {
  const { total, onTally, signal } = options;
  let ended = 0;
  let changedAt = performance.now();
  for (;;) {
    const tally = countRecords(await readRecords(options));
    await onTally(tally);
    refuseFailures(tally);
    const endedNow = countEnded(tally);
    if (endedNow === total) return tally;
    if (endedNow !== ended) [ended, changedAt] = [endedNow, performance.now()];
    if (performance.now() - changedAt > STALL_MS) throw createStallError(tally, total);
    await sleep(POLL_INTERVAL_MS, undefined, { signal });
  }
}
