import { VIEW_AGE_SECONDS } from './evaluateFailure.ts';
import type { Excuse } from './evaluateReport.ts';
import type { SeenHead } from './journal/openSeenChain.ts';
import type { WatchJournal } from './journal/openWatchJournal.ts';
import type { ChainUpdate } from './readChainUpdate.ts';

/** The longest between two looks that go well, in seconds: the gateway lets a call wait 25 s. */
export const LOOK_SECONDS = 40n;
/** The longest while a request is open, in seconds: looks follow each other at once, but may take long over a bad network. */
const BUSY_LOOK_SECONDS = 10n;

/** Unix seconds between which reports were made that may not be true any more. */
export interface Doubt {
  readonly from: bigint;
  readonly to: bigint;
  readonly excuse: Excuse;
}

/** What a doubt follows from. */
interface DoubtContext {
  readonly journal: Pick<WatchJournal, 'heads' | 'hasAny'>;
  readonly confirmations: bigint;
  readonly now: () => number;
}

/** The most blocks that can have come, and gone again, since a look, by how fast they came before; in doubt one. */
function countUnseen(heads: readonly SeenHead[], unseenSeconds: bigint): bigint {
  const [newest, oldest] = [heads[0], heads.at(-1)];
  if (newest === undefined || oldest === undefined || newest.seconds <= oldest.seconds) return 1n;
  const [blocks, seconds] = [newest.number - oldest.number, newest.seconds - oldest.seconds];
  const most = (unseenSeconds * blocks + seconds - 1n) / seconds;
  return most > 1n ? most : 1n;
}

/**
 * Finds what makes reports doubtful that were made before, or soon after by an older view: a reorganisation; or a time in which nobody looked,
 * as before the journal began, while the gateway was out of reach, or after a restart from a backup, so that one deeper than the confirmations
 * may have left no trace.
 * While no request is open, the chain is not looked at for a while: that does not count.
 *
 * @param attendedAtMs - when the last look that went well had begun; undefined: before the start
 */
export function findDoubt(
  { journal, confirmations, now }: DoubtContext,
  chain: ChainUpdate,
  attendedAtMs: number | undefined,
): Doubt | undefined {
  const { head, fork, lostBlocks } = chain;
  const heads = journal.heads();
  const [newest] = heads;
  const nowSeconds = BigInt(Math.floor(now() / 1000));
  if (newest === undefined) return { from: 0n, to: nowSeconds - 1n, excuse: 'undone' };
  const attendedSeconds = BigInt(Math.floor((attendedAtMs ?? 0) / 1000));
  const since = attendedSeconds > newest.seconds ? attendedSeconds : newest.seconds;
  const [blocks, seconds] = [head.number - newest.number, head.seconds - newest.seconds];
  const unseen = nowSeconds - since;
  const longest = journal.hasAny(['pending', 'held', 'ended']) ? BUSY_LOOK_SECONDS : LOOK_SECONDS;
  const isUnseen = unseen > longest && unseen * blocks > BigInt(confirmations) * seconds;
  if (!isUnseen && fork === undefined) return undefined;
  const from = fork === undefined ? since : (heads.find(({ number }) => number <= fork)?.seconds ?? 0n);
  // The last of the blocks that are gone may never have been seen.
  const isDeep = lostBlocks + countUnseen(heads, unseen) >= confirmations;
  const excuse = isUnseen || isDeep ? 'undone' : 'fork';
  // A report may be on its way, or rest on a node that has not seen it yet.
  return { from, to: nowSeconds + VIEW_AGE_SECONDS, excuse };
}
