import { ChainError } from './chainError.ts';
import type { BlockHead, ChainReader, ForwarderPolicy } from './chainReader.ts';

/** How long what was read stays good, in milliseconds: a head for less than a block, the rest for longer. */
const HEAD_MS = 500;
const BALANCE_MS = 2000;
const POLICY_MS = 30_000;
/** What is asked of the chain. */
export type WatchedChain = Pick<ChainReader, 'head' | 'pendingSeconds' | 'policy' | 'balance'>;

/** What is known of the chain; read again when it has become old. */
export interface ChainState {
  head(): Promise<BlockHead>;
  policy(): Promise<ForwarderPolicy>;
  /** The relayer's ether, in wei. */
  balance(): Promise<bigint>;
  /** The time that the next block is expected to have, in Unix seconds. @see createChainClock */
  seconds(): Promise<bigint>;
  /** How long it takes until what is sent now is mined, and as deep as it has to be, in seconds. */
  settleSeconds(): Promise<bigint>;
}

/** Keeps an answer for some time; callers in the meantime share it, a failure is kept for nobody. */
function keepFresh<T>(
  read: () => Promise<T>,
  options: { readonly forMs: number; readonly now: () => number },
): () => Promise<T> {
  let kept: { readonly answer: Promise<T>; readonly until: number } | undefined;
  return function readFresh() {
    if (kept !== undefined && options.now() < kept.until) return kept.answer;
    const answer = read();
    kept = { answer, until: options.now() + options.forMs };
    answer.catch(() => {
      kept = undefined;
    });
    return answer;
  };
}

/**
 * Keeps what is known of a chain, so that many requests share few questions.
 *
 * @param options.confirmations - blocks that settle a transaction, the including one counted; default 1
 */
export function watchChain(
  chain: WatchedChain,
  { now, confirmations = 1 }: { readonly now: () => number; readonly confirmations?: number },
): ChainState {
  const pace = createBlockPace();
  async function readHead(): Promise<BlockHead> {
    const head = await chain.head();
    pace.note(head);
    return head;
  }
  const head = keepFresh(readHead, { forMs: HEAD_MS, now });
  const pendingSeconds = keepFresh(() => chain.pendingSeconds(), { forMs: HEAD_MS, now });
  const readSeconds = createChainClock({ pendingSeconds, now });
  return {
    head,
    policy: keepFresh(() => chain.policy(), { forMs: POLICY_MS, now }),
    balance: keepFresh(() => chain.balance(), { forMs: BALANCE_MS, now }),
    seconds: async () => await readSeconds(await head()),
    async settleSeconds() {
      await head();
      // The next block may come too soon for it.
      return pace.secondsOf(1n + BigInt(confirmations));
    },
  };
}

/** By how much the time of day may be ahead of what the blocks say before the node is asked, in seconds: blocks take a moment to arrive. */
const TRUSTED_SECONDS = 2n;
/** A chain whose head stands still for longer makes blocks only for transactions, in milliseconds: they say nothing of the time. */
const STANDS_STILL_MS = 30_000;
/** How long a node that does not tell of its pending block is not asked again, in milliseconds. */
const REFUSED_MS = 30_000;

/** @returns the time that the next block is expected to have, in Unix seconds @param head - the newest block */
type ChainClock = (head: Pick<BlockHead, 'number' | 'timestamp'>) => Promise<bigint>;

const larger = (a: bigint, b: bigint) => (a > b ? a : b);
const smaller = (a: bigint, b: bigint) => (a < b ? a : b);

/**
 * Makes the clock of a chain: the time of day as far as the blocks bear it out, since the Forwarder refuses what comes early by a
 * clock that is fast. The newest block's time, and what has passed since it was first seen, are never ahead of the chain.
 *
 * @param options.pendingSeconds - reads the time of the node's pending block
 */
function createChainClock(options: {
  readonly pendingSeconds: () => Promise<bigint>;
  readonly now: () => number;
}): ChainClock {
  const { pendingSeconds, now } = options;
  let seen = { number: -1n, atMs: 0 };
  let refusedUntilMs = 0;

  async function askNode(): Promise<bigint> {
    if (now() < refusedUntilMs) return 0n;
    try {
      return await pendingSeconds();
    } catch (error) {
      if (!(error instanceof ChainError)) throw error;
      refusedUntilMs = now() + REFUSED_MS;
      return 0n;
    }
  }

  return async function readSeconds({ number, timestamp }) {
    const nowMs = now();
    if (number !== seen.number) seen = { number, atMs: nowMs };
    const stoodMs = nowMs - seen.atMs;
    const wall = BigInt(Math.floor(nowMs / 1000));
    const proven = timestamp + BigInt(Math.floor(stoodMs / 1000));
    // No earlier than the one before; a chain that makes blocks for transactions has several a second.
    if (wall <= proven + TRUSTED_SECONDS || stoodMs > STANDS_STILL_MS) return larger(wall, timestamp);
    return smaller(wall, larger(proven, await askNode()));
  };
}

/** Seconds from one block to the next that are taken for granted, as long as it is not known, and at most. */
const SLOWEST_SECONDS = 15n;
/** After so many blocks what was seen before is forgotten: chains change their pace. */
const MEMORY_BLOCKS = 100n;

type Seen = Pick<BlockHead, 'number' | 'timestamp'>;

/** How fast a chain makes blocks. */
interface BlockPace {
  note(head: Seen): void;
  /** How long some blocks take, in seconds, rounded up. */
  secondsOf(blocks: bigint): bigint;
}

/** Makes the measure of a chain's pace, by the newest blocks that were read. One that makes blocks for transactions alone counts as a slow one. */
export function createBlockPace(): BlockPace {
  let [first, middle, last]: (Seen | undefined)[] = [];
  return {
    note(head) {
      if (last !== undefined && head.number <= last.number) return;
      last = head;
      first ??= head;
      if (head.number - first.number < MEMORY_BLOCKS / 2n) middle = head;
      if (head.number - first.number > MEMORY_BLOCKS) [first, middle] = [middle, head];
    },
    secondsOf(blocks) {
      if (first === undefined || last === undefined || first.number === last.number) return blocks * SLOWEST_SECONDS;
      const [seconds, passed] = [last.timestamp - first.timestamp, last.number - first.number];
      const measured = (seconds * blocks + passed - 1n) / passed;
      return measured < blocks * SLOWEST_SECONDS ? measured : blocks * SLOWEST_SECONDS;
    },
  };
}
