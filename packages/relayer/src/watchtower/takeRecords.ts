import type { RequestRecord } from '@prism-gateway/protocol';
import type { Hex } from 'viem';
import { listSignedParts } from '../checks/findNonce.ts';
import type { QueueUpdate } from './createQueueLook.ts';
import type { Doubt } from './findDoubt.ts';
import type { SeenHead } from './journal/openSeenChain.ts';
import type { WatchedRow } from './journal/openWatchedTable.ts';
import type { WatchJournal } from './journal/openWatchJournal.ts';

/** The state of the chain that taking a record in needs. */
interface TakeContext {
  readonly journal: Pick<WatchJournal, 'get' | 'put' | 'touch' | 'forget' | 'addRelease'>;
  readonly head: Pick<SeenHead, 'number' | 'seconds' | 'baseFee'>;
  /** Heads that were seen, newest first. */
  readonly heads: readonly SeenHead[];
  /** How long the Forwarder takes a signature, in seconds. */
  readonly maxAge: bigint;
  /** How many transactions each holder has sent, by address in lower case. */
  readonly sent: ReadonlyMap<Hex, number>;
  /** The latest first. */
  readonly doubts: readonly Doubt[];
}

/** Unix seconds of a time on the wire. */
function toSeconds(time: string | undefined): bigint {
  return BigInt(Math.floor(Date.parse(time ?? '') / 1000) || 0);
}

const earlier = (one: bigint, other: bigint) => (one < other ? one : other);
const later = (one: bigint, other: bigint) => (one > other ? one : other);

/** How long after a claim a block still shows what gas cost then, in seconds. */
const PRICE_SECONDS = 60n;

/** Price of a unit of gas when a request was claimed; 0 if nobody looked then: an honest holder may wait for any price. */
function priceAt({ head, heads }: TakeContext, claimedSeconds: bigint): bigint {
  const seen = heads.find(({ seconds }) => seconds <= claimedSeconds);
  if (seen !== undefined && claimedSeconds - seen.seconds <= PRICE_SECONDS) return seen.baseFee;
  return head.seconds - claimedSeconds <= PRICE_SECONDS ? head.baseFee : 0n;
}

/** Whether a record says of a request what is known of it already. */
export function isKnownSo(row: WatchedRow | undefined, record: RequestRecord): boolean {
  return row?.status === record.status && row.relayer === record.claimedBy?.toLowerCase();
}

const hasEnded = (one: { readonly status: string } | undefined) =>
  one?.status === 'success' || one?.status === 'failed';

function makeRow(
  context: TakeContext,
  record: RequestRecord,
  { known, atMs }: { readonly known: WatchedRow | undefined; readonly atMs: number },
): WatchedRow {
  const { head, maxAge, sent, doubts } = context;
  const { requestId, status, chainName, action, params, errorMessage } = record;
  const nothing = { claimedSeconds: undefined, claimNonce: undefined, txHash: undefined };
  const unheld = { excuse: 'none', claimPrice: 0n, idleSeconds: 0n } as const;
  const isReopened = known?.isReopened === true || (hasEnded(known) && !hasEnded(record));
  const shared = { isReopened, firstBlock: known?.firstBlock ?? head.number };
  const unended = { endedSeconds: undefined, endedBlock: undefined, reportedSeconds: undefined };
  const open = { ...unended, expiresSeconds: undefined, body: undefined, ...unheld, ...shared };
  if (status === 'pending') return { requestId, state: 'pending', status, relayer: undefined, ...nothing, ...open };
  const relayer = record.claimedBy?.toLowerCase() as Hex;
  // All clocks may be wrong, and that of the chain is not: the claim is no later than its newest block, whatever a fast one says.
  const claimedAt = toSeconds(record.claimedAt);
  const isHeldOn = known?.relayer === relayer;
  const claim = {
    relayer,
    claimedSeconds: isHeldOn ? known.claimedSeconds : earlier(claimedAt, head.seconds),
    claimNonce: isHeldOn ? known.claimNonce : sent.get(relayer),
    // What was simulated was another report.
    excuse: isHeldOn && known.excuse !== 'simulated' ? known.excuse : ('none' as const),
    ...shared,
    claimPrice: isHeldOn ? known.claimPrice : priceAt(context, claimedAt),
    idleSeconds: isHeldOn ? known.idleSeconds : 0n,
    body: JSON.stringify({ chainName, action, params, ...(errorMessage !== undefined && { errorMessage }) }),
    expiresSeconds: listSignedParts(record).reduce((latest, part) => {
      const end = BigInt(part.params.timestamp) + maxAge;
      return end > latest ? end : latest;
    }, 0n),
  };
  if (status === 'processing') return { requestId, state: 'held', status, ...nothing, ...unended, ...claim };
  // By this clock, too, and the chain's: a gateway whose clock is slow, a node that is behind, or both clocks would have an older block count.
  const [stated, seen] = [toSeconds(record.updatedAt), BigInt(Math.floor(atMs / 1000))];
  const endedSeconds = later(later(stated, seen), head.seconds);
  const endedBlock = head.seconds >= endedSeconds ? head.number : undefined;
  const reportedSeconds = earlier(stated, head.seconds + 1n);
  const txHash = record.txHash?.toLowerCase() as Hex | undefined;
  const doubt = doubts.find(({ from, to }) => stated >= from && stated <= to);
  const excuse = claim.excuse === 'undone' ? claim.excuse : (doubt?.excuse ?? claim.excuse);
  return { requestId, state: 'ended', status, ...claim, excuse, txHash, endedSeconds, endedBlock, reportedSeconds };
}

/** Whoever gives back what has become dearer has not held it idle for longer, in seconds. */
const PATIENCE_SECONDS = 120n;

/**
 * A claim that is over without a report was given back, or taken over after its lease: its holder is not the one any more. Nobody is blamed
 * who gives back what has become dearer since, unless it did nothing before.
 */
function recordRelease({ journal, head }: TakeContext, known: WatchedRow | undefined, row: WatchedRow) {
  if (known?.state !== 'held' || known.relayer === undefined || known.relayer === row.relayer) return;
  const { requestId, relayer, idleSeconds, claimPrice } = known;
  if (idleSeconds <= PATIENCE_SECONDS && head.baseFee > claimPrice) return;
  journal.addRelease({ relayer, requestId, seconds: head.seconds, idleSeconds });
}

/** Takes in what the queue reports. A claim that one relayer holds on is one claim, however often its lease is renewed. */
export function takeRecords(context: TakeContext, { records, gone, atMs }: QueueUpdate): void {
  const { journal } = context;
  for (const record of records) {
    const known = journal.get(record.requestId);
    if (isKnownSo(known, record)) {
      journal.touch(record.requestId, atMs);
      continue;
    }
    const row = makeRow(context, record, { known, atMs });
    recordRelease(context, known, row);
    journal.put(row, atMs);
  }
  for (const requestId of gone) journal.forget(requestId);
}
