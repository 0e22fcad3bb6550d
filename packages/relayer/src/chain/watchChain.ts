import type { BlockHead, ChainReader, ForwarderPolicy } from './chainReader.ts';
import { createBlockPace } from './createBlockPace.ts';
import { createChainClock } from './createChainClock.ts';

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
 * @param chain - who is asked
 * @param options.now - Unix time in milliseconds
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
