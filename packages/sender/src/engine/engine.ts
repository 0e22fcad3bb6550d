import type { Hash } from 'viem';
import type { BlockHead, Chain } from '../chain/createChain.ts';
import type { FeeSource } from '../fees/fees.ts';
import type { IntentFailure, Sent, TxVersion } from '../intents/intent.ts';
import { FINAL_STATES, type IntentState, moveIntent, UNMINED_STATES } from '../intents/intentState.ts';
import type { LiveIntent } from '../intents/liveIntent.ts';
import type { Journal } from '../journal/openJournal.ts';
import type { ChainView, SenderAccount } from '../sender.ts';
import { SenderError } from '../senderError.ts';
import type { SenderEvent } from '../senderEvent.ts';
import type { Loop } from './createLoop.ts';

/** Settings with all defaults filled in; the units are in the names, fees are in wei. */
export interface EngineSettings {
  readonly chainId: number;
  readonly maxInFlight: number;
  readonly ceiling: bigint | undefined;
  readonly bumpAfterMs: number;
  readonly bumpPercent: number;
  readonly pollIntervalMs: number;
  readonly gasMarginPercent: number;
  readonly nodeTimeoutMs: number;
  readonly whenKeyIsShared: 'resend' | 'reject';
  readonly freeForeignAfterMs: number | undefined;
}

/** Someone who waits for an outcome. */
export interface Waiter {
  resolve(sent: Sent): void;
  reject(error: unknown): void;
}

/** All that a running sender holds; the functions beside this file work on it. */
export interface Engine {
  readonly settings: EngineSettings;
  readonly chain: Chain;
  readonly journal: Journal;
  readonly account: SenderAccount;
  readonly fees: FeeSource;
  readonly view: ChainView | undefined;
  readonly mayBroadcast: (transaction: Pick<TxVersion, 'raw' | 'nonce'>) => Promise<boolean>;
  /** Milliseconds since the epoch: when something was, and when it expires. */
  readonly now: () => number;
  /** Milliseconds of a clock that is never set: how long something takes. */
  readonly monotonicNow: () => number;
  readonly emit: (event: SenderEvent) => void;
  /** Intents without an outcome, by id. */
  readonly live: Map<string, LiveIntent>;
  /** Those that may get a nonce, in order. */
  readonly queue: LiveIntent[];
  /** Changed since the journal was written. */
  readonly dirty: Set<LiveIntent>;
  readonly waiters: Map<string, Set<Waiter>>;
  /** Broadcasts on their way. */
  readonly tasks: Set<Promise<void>>;
  /** Foreign transactions found on nonces of ours. */
  readonly consumers: Map<number, { readonly hash: Hash; readonly blockNumber: bigint }>;
  nextNonce: number;
  /** Transactions that the journal does not know wait for a block, on account nonces below this one; undefined: none does. */
  heldBelow: number | undefined;
  /** When the chain's account nonce was last known to agree with ours. */
  nonceSeenAtMs: number;
  /** The wei that may still be spent; undefined: ask the node. */
  spendableWei: bigint | undefined;
  head: BlockHead | undefined;
  /** When `head` was first seen, by the clock that is never set. */
  headSeenAtMs: number;
  /** Rounds in a row that found the same head. */
  sameHeads: number;
  /** The node spoke of a used nonce: the account nonce is looked at. */
  isSuspicious: boolean;
  /**
   * Until then nonces are freed at any price below the ceiling, by the clock that is never set: of what has expired, and of so much that may not
   * offer what a block takes.
   */
  unblocking: { readonly untilMs: number; readonly count: number };
  isAboveCeiling: boolean;
  /** Those that wait for a nonce cannot be paid for. */
  isShort: boolean;
  /** Rounds in a row that found nothing new. */
  idleRounds: number;
  /** First looks in a row, right after a broadcast, that came too early. */
  earlyLooks: number;
  gapRounds: number;
  /** A free account nonce below those in flight, as far as it is known, with what was signed for it last. */
  gap: { readonly version: TxVersion | undefined } | undefined;
  /** In a row, by loop. */
  faults: { reserve: number; watch: number };
  /** When the node began to fail those who wait for a nonce. */
  faultyWhen: number | undefined;
  /** The account's first signature has been looked at. */
  isSignerVerified: boolean;
  isClosed: boolean;
  /** Gives nonces to what is queued. */
  reserving: Loop;
  /** Looks at the chain. */
  watching: Loop;
}

/** Moves an intent, to be written with the next flush. */
export function transition(engine: Engine, move: { readonly intent: LiveIntent; readonly to: IntentState }): void {
  moveIntent(move.intent, move.to);
  move.intent.updatedAtMs = engine.now();
  engine.dirty.add(move.intent);
}

/**
 * Picks the intents that hold a nonce and are not known to be mined.
 *
 * @returns by nonce, lowest first
 */
export function unminedIntents(engine: Engine): readonly LiveIntent[] {
  const unmined = [...engine.live.values()].filter((intent) => UNMINED_STATES.includes(intent.state));
  // These states have a nonce.
  return unmined.sort((a, b) => (a.nonce as number) - (b.nonce as number));
}

/** The most that a version of an intent's call may offer for a unit of gas, in wei; undefined: any amount. */
export function ceilingOf({ settings }: Pick<Engine, 'settings'>, { maxFeePerGas }: Pick<LiveIntent, 'maxFeePerGas'>) {
  const { ceiling } = settings;
  if (ceiling === undefined || maxFeePerGas === undefined) return ceiling ?? maxFeePerGas;
  return ceiling < maxFeePerGas ? ceiling : maxFeePerGas;
}

/** Rejects whoever waits for an intent, and forgets it; only for intents of which nothing is in the journal. */
export function forgetIntent(engine: Engine, end: { readonly intent: LiveIntent; readonly error: SenderError }): void {
  const { intent, error } = end;
  if (intent.isJournalled) throw new TypeError(`intent ${intent.intentId} is in the journal and cannot be forgotten`);
  engine.live.delete(intent.intentId);
  const place = engine.queue.indexOf(intent);
  if (place >= 0) engine.queue.splice(place, 1);
  for (const waiter of engine.waiters.get(intent.intentId) ?? []) waiter.reject(error);
  engine.waiters.delete(intent.intentId);
}

/**
 * How an intent ended.
 *
 * @param intent - `confirmed` or `abandoned`
 * @throws SenderError why it was abandoned
 */
export function outcomeOf(intent: { sent?: Sent | undefined; failure?: IntentFailure | undefined }): Sent {
  if (intent.sent !== undefined) return intent.sent;
  const failure: IntentFailure = intent.failure ?? { code: 'TRANSACTION_REFUSED', message: 'It was given up.' };
  throw new SenderError(failure.code, failure.message, { spentWei: failure.spentWei });
}

function finalizeWaiters(engine: Engine, intent: LiveIntent): void {
  for (const waiter of engine.waiters.get(intent.intentId) ?? []) {
    try {
      waiter.resolve(outcomeOf(intent));
    } catch (error) {
      waiter.reject(error);
    }
  }
  engine.waiters.delete(intent.intentId);
}

/**
 * Writes all changes in one transaction, and only then reports outcomes. Where the journal cannot be written, nothing is reported, and the
 * next flush tries again.
 */
export function flush(engine: Engine): void {
  const changed = [...engine.dirty].filter((intent) => intent.isJournalled);
  try {
    engine.journal.commit({ intents: changed, versions: [] });
  } catch (error) {
    engine.emit({ type: 'journalFault', reason: error instanceof Error ? error.message : 'unknown' });
    return;
  }
  engine.dirty.clear();
  for (const intent of changed) {
    if (!FINAL_STATES.includes(intent.state)) continue;
    engine.live.delete(intent.intentId);
    finalizeWaiters(engine, intent);
  }
}
