import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestRecord, RequestStatus } from '@prism-gateway/protocol';
import { DemoError } from './demoError.ts';
import type { DemoWorld } from './startDemoWorld.ts';

/** Where the requests stand. */
export interface Tally {
  readonly records: ReadonlyMap<string, RequestRecord>;
  readonly counts: Readonly<Record<RequestStatus, number>>;
  /** How many have ended, one way or the other. */
  readonly ended: number;
  /** Ids of what each relayer holds, and of what it has reported, by its address in lower case. */
  readonly held: ReadonlyMap<string, readonly string[]>;
  readonly reported: ReadonlyMap<string, readonly string[]>;
}

interface Watch {
  readonly demo: DemoWorld;
  /** How many requests there will be. */
  readonly total: number;
  /** Called after each look, and awaited: nothing is looked at meanwhile. */
  readonly onTally: (tally: Tally) => Promise<void>;
  readonly signal: AbortSignal;
}

const POLL_INTERVAL_MS = 100;
/** Longest time in which no request ends: far more than a restart takes. */
const STALL_MS = 60_000;
const PAGE_SIZE = 100;

async function readRecords({ demo, signal }: Watch): Promise<readonly RequestRecord[]> {
  const lists = demo.users.map(async ({ account }) => {
    const query = { signer: account.address, limit: PAGE_SIZE };
    const records: RequestRecord[] = [];
    for await (const record of demo.world.client.listRequests(query, { signal })) records.push(record);
    return records;
  });
  return (await Promise.all(lists)).flat();
}

function countRecords(records: readonly RequestRecord[]): Tally {
  const counts = { pending: 0, processing: 0, success: 0, failed: 0 };
  const held = new Map<string, string[]>();
  const reported = new Map<string, string[]>();
  for (const { requestId, status, claimedBy } of records) {
    counts[status]++;
    if (claimedBy === undefined) continue;
    const relayer = claimedBy.toLowerCase();
    const lists = status === 'processing' ? held : reported;
    lists.set(relayer, [...(lists.get(relayer) ?? []), requestId]);
  }
  const byId = new Map(records.map((record) => [record.requestId, record]));
  return { records: byId, counts, ended: counts.success + counts.failed, held, reported };
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
 * @param watch - see each field
 * @returns where they stand then
 * @throws DemoError `REQUEST_FAILED`, or `REQUESTS_OPEN` if nothing ends any more; GatewayError; the signal's reason
 */
export async function watchRequests(watch: Watch): Promise<Tally> {
  const { total, onTally, signal } = watch;
  let ended = 0;
  let changedAt = performance.now();
  for (;;) {
    const tally = countRecords(await readRecords(watch));
    await onTally(tally);
    refuseFailures(tally);
    if (tally.ended === total) return tally;
    if (tally.ended !== ended) [ended, changedAt] = [tally.ended, performance.now()];
    if (performance.now() - changedAt > STALL_MS) throw createStallError(tally, total);
    await sleep(POLL_INTERVAL_MS, undefined, { signal });
  }
}
