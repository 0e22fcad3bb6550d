import { ChainError } from './chainError.ts';
import { type Block, type BlockHead, type ChainReader, priceBlock } from './chainReader.ts';

/** How long what was read stays good, in milliseconds. Suggested tips move slowly. */
const TIP_MS = 30_000;
const BALANCE_MS = 15_000;
const POLICY_MS = 120_000;
/**
 * Bounds, in milliseconds, on the time for which facts about a block yet to come, or one that is late, stay good: a part of a block's time.
 */
const LEAST_BLOCK_MS = 500;
const MOST_BLOCK_MS = 2000;
/** The newest block is no older than that, in milliseconds, unless the chain stands still: then the next one shows. */
const FORGOTTEN_AHEAD_MS = 120_000;
/** The reads of the chain. */
export type WatchedChain = Pick<ChainReader, 'block' | 'tip' | 'pendingSeconds' | 'policy' | 'balance'>;

/** The state of the chain; read again once it has become old. */
export type ChainState = ReturnType<typeof watchChain>;

/** Keeps an answer for some time; callers in the meantime share it, a failure is kept for nobody. */
function keepFresh<T>(
  read: () => Promise<T>,
  { forMs, monotonicNow }: { readonly forMs: () => number; readonly monotonicNow: () => number },
): (maxAgeMs?: number) => Promise<T> {
  let kept: { readonly answer: Promise<T>; readonly atMs: number } | undefined;
  return function readFresh(maxAgeMs = forMs()) {
    if (kept !== undefined && monotonicNow() - kept.atMs < maxAgeMs) return kept.answer;
    const answer = read();
    kept = { answer, atMs: monotonicNow() };
    answer.catch(() => {
      kept = undefined;
    });
    return answer;
  };
}

/**
 * Keeps what is known of a chain, so that many requests share few questions.
 *
 * @param options.confirmations - blocks that finalize a transaction, the including one counted; default 1
 */
export function watchChain(
  chain: WatchedChain,
  {
    now,
    monotonicNow,
    confirmations = 1,
  }: { readonly now: () => number; readonly monotonicNow: () => number; readonly confirmations?: number },
) {
  const pace = createBlockPace();
  let newest: Block | undefined;
  let readAtMs = 0;
  let pricedAtMs = Number.NEGATIVE_INFINITY;
  /** The least by which the clock that is never set was ahead of a block's time when it was seen: where it began, and the block's way here. */
  let aheadMs = Number.POSITIVE_INFINITY;
  const sinceBlockMs = (block: Block, nowMs: number) => nowMs - Number(block.timestamp) * 1000 - aheadMs;
  async function readBlock(): Promise<Block> {
    const askedAtMs = monotonicNow();
    const found = await chain.block();
    pace.note(found);
    const ms = monotonicNow() - Number(found.timestamp) * 1000;
    // A block from a time to come, which one node has shown once, does not count for ever.
    aheadMs = ms - aheadMs > FORGOTTEN_AHEAD_MS ? ms : Math.min(aheadMs, ms);
    [newest, readAtMs] = [found, askedAtMs];
    return found;
  }
  const blockMs = () => pace.blockMs();
  const forAMoment = () => Math.min(MOST_BLOCK_MS, Math.max(LEAST_BLOCK_MS, (blockMs() ?? 0) / 8));
  /** A block is the newest one until the next is expected. */
  function forABlock(): number {
    const ms = blockMs();
    if (ms === undefined || newest === undefined) return forAMoment();
    return Math.max(forAMoment(), ms - sinceBlockMs(newest, readAtMs));
  }
  const keep = <T>(read: () => Promise<T>, ms: number) => keepFresh(read, { forMs: () => ms, monotonicNow });
  const block = keepFresh(readBlock, { forMs: forABlock, monotonicNow });
  const tip = keep(() => chain.tip(), TIP_MS);
  const pendingSeconds = keepFresh(() => chain.pendingSeconds(), { forMs: forAMoment, monotonicNow });
  const readSeconds = createChainClock({ pendingSeconds, now, monotonicNow });
  return {
    /** The newest block, and nothing else. @param maxAgeMs - how old it may be; default less than a block */
    block,
    /** Whether a price was asked for since a time, in milliseconds of the clock that is never set. */
    isPricedSince: (ms: number): boolean => pricedAtMs >= ms,
    async head(maxAgeMs?: number): Promise<BlockHead> {
      pricedAtMs = monotonicNow();
      const [found, tipWei] = await Promise.all([block(maxAgeMs), tip()]);
      return priceBlock(found, tipWei);
    },
    policy: keep(() => chain.policy(), POLICY_MS),
    /** The relayer's ether, in wei. @param maxAgeMs - how old it may be; default a quarter of a minute */
    balance: keep(() => chain.balance(), BALANCE_MS),
    /** The time that the next block is expected to have, in Unix seconds. @see createChainClock */
    seconds: async (): Promise<bigint> => await readSeconds(await block()),
    /** How long a block takes, in milliseconds; undefined: not known. */
    blockMs,
    /** In how many milliseconds the next block is expected; undefined: not known. */
    nextBlockInMs(): number | undefined {
      const ms = blockMs();
      if (ms === undefined || newest === undefined) return undefined;
      // Blocks of before that were not seen are as many times as far apart.
      return ms - (sinceBlockMs(newest, monotonicNow()) % ms);
    },
    /** How long it takes until what is sent now is mined, and as deep as it has to be, in seconds. */
    async finalitySeconds(): Promise<bigint> {
      await block();
      // The next block may come too soon for it.
      return pace.secondsOf(1n + BigInt(confirmations));
    },
  };
}

/** By how much the time of day may be ahead of what the blocks say before the node is asked, in seconds: blocks take a moment to arrive. */
const TRUSTED_SECONDS = 2n;
/** A chain whose head stands still for longer makes blocks only for transactions, in milliseconds: they say nothing of the time. */
const STANDS_STILL_MS = 30_000;
/** How long a node that does not show its pending block is not asked again, in milliseconds. */
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
  readonly monotonicNow: () => number;
}): ChainClock {
  const { pendingSeconds, now, monotonicNow } = options;
  let seen = { number: -1n, atMs: 0 };
  let refusedUntilMs = Number.NEGATIVE_INFINITY;

  async function askNode(): Promise<bigint> {
    if (monotonicNow() < refusedUntilMs) return 0n;
    try {
      return await pendingSeconds();
    } catch (error) {
      if (!(error instanceof ChainError)) throw error;
      refusedUntilMs = monotonicNow() + REFUSED_MS;
      return 0n;
    }
  }

  return async function readSeconds({ number, timestamp }) {
    const nowMs = monotonicNow();
    if (number !== seen.number) seen = { number, atMs: nowMs };
    const stoodMs = nowMs - seen.atMs;
    const wall = BigInt(Math.floor(now() / 1000));
    const proven = timestamp + BigInt(Math.floor(stoodMs / 1000));
    // No earlier than the one before; a chain that makes blocks for transactions has several a second.
    if (wall <= proven + TRUSTED_SECONDS || stoodMs > STANDS_STILL_MS) return larger(wall, timestamp);
    return smaller(wall, larger(proven, await askNode()));
  };
}

/** Seconds from one block to the next that are taken for granted, as long as it is not known, and at most. */
const SLOWEST_SECONDS = 15n;
/** Blocks after which what was seen before is forgotten: chains change their pace. */
const MEMORY_BLOCKS = 100n;

type Seen = Pick<BlockHead, 'number' | 'timestamp'>;

/** How fast a chain makes blocks. */
interface BlockPace {
  note(head: Seen): void;
  /** How long a block takes, in milliseconds; undefined: not known, or too slow to count on. */
  blockMs(): number | undefined;
  /** How long some blocks take, in seconds, rounded up. */
  secondsOf(blocks: bigint): bigint;
}

/** Makes the measure of a chain's pace, by the newest blocks that were read. One that makes blocks for transactions alone counts as a slow one. */
export function createBlockPace(): BlockPace {
  let [first, middle, last]: (Seen | undefined)[] = [];
  return {
    note(head) {
      // So far back no reorganisation goes: the one before was made up.
      if (last !== undefined && head.number < last.number - MEMORY_BLOCKS)
        [first, middle, last] = [undefined, undefined, undefined];
      if (last !== undefined && head.number <= last.number) return;
      last = head;
      first ??= head;
      if (head.number - first.number < MEMORY_BLOCKS / 2n) middle = head;
      if (head.number - first.number > MEMORY_BLOCKS) [first, middle] = [middle, head];
    },
    blockMs() {
      if (first === undefined || last === undefined || first.number === last.number) return undefined;
      const ms = (Number(last.timestamp - first.timestamp) * 1000) / Number(last.number - first.number);
      return ms < Number(SLOWEST_SECONDS) * 1000 ? ms : undefined;
    },
    secondsOf(blocks) {
      if (first === undefined || last === undefined || first.number === last.number) return blocks * SLOWEST_SECONDS;
      const [seconds, passed] = [last.timestamp - first.timestamp, last.number - first.number];
      const measured = (seconds * blocks + passed - 1n) / passed;
      return measured < blocks * SLOWEST_SECONDS ? measured : blocks * SLOWEST_SECONDS;
    },
  };
}
