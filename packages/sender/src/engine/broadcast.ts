import { RpcUnavailableError } from '@prism-gateway/node/rpc';
import { classifyRefusal, type Refusal } from '../chain/classifyRefusal.ts';
import type { LiveIntent } from '../intents/liveIntent.ts';
import { newestVersion } from '../intents/liveIntent.ts';
import type { SenderErrorCode } from '../senderError.ts';
import { type Engine, transition } from './engine.ts';
import { pauseForBlock } from './pauseForBlock.ts';
import { retryPause } from './retryPause.ts';

/** The same bytes are offered again after this time: nodes drop what waits long, or restart without their pool. */
const REBROADCAST_MS = 30_000;
/** How soon after a broadcast the chain is looked at, if blocks come at once. */
const EARLY_LOOK_MS = 20;
/** So many early looks in vain, and blocks do not come at once here. */
const MAX_EARLY_LOOKS = 3;
/** Or they did not for a while: how many transactions later it is tried again. */
const EARLY_LOOK_EVERY = 16;

function accept(engine: Engine, intent: LiveIntent): void {
  intent.refusals = 0;
  intent.nextBroadcastAtMs = engine.monotonicNow() + REBROADCAST_MS;
  const { pollIntervalMs } = engine.settings;
  const isEarly = engine.earlyLooks < MAX_EARLY_LOOKS || engine.nextNonce % EARLY_LOOK_EVERY === 0;
  engine.watching.schedule(isEarly ? Math.min(EARLY_LOOK_MS, pollIntervalMs) : pauseForBlock(engine));
  if (intent.state !== 'signed') return;
  intent.failure = undefined;
  transition(engine, { intent, to: 'broadcast' });
  const { nonce, hash } = newestVersion(intent);
  engine.emit({ type: 'broadcast', intentId: intent.intentId, nonce, txHash: hash });
}

const FINAL_REFUSALS: Partial<Record<Refusal, { readonly code: SenderErrorCode; readonly message: string }>> = {
  funds: { code: 'INSUFFICIENT_FUNDS', message: 'The account could not pay for the transaction; its nonce was freed.' },
  invalid: { code: 'TRANSACTION_REFUSED', message: 'The node refused the transaction for good; its nonce was freed.' },
};

/** A refusal never says that a version is not in some pool: the nonce stays with the intent whatever is said here. */
function refuse(engine: Engine, { intent, error }: { intent: LiveIntent; error: unknown }): void {
  const refusal = classifyRefusal(error);
  if (refusal === 'known') {
    accept(engine, intent);
    return;
  }
  intent.refusals++;
  const { pollIntervalMs } = engine.settings;
  intent.nextBroadcastAtMs = engine.monotonicNow() + retryPause(error, { faults: intent.refusals, pollIntervalMs });
  engine.watching.schedule(pollIntervalMs);
  const { nonce } = newestVersion(intent);
  const reason = error instanceof Error ? error.message : refusal;
  engine.emit({ type: 'refused', intentId: intent.intentId, nonce, reason });
  if (refusal === 'nonceUsed') {
    engine.isSuspicious = true;
    engine.watching.schedule(0);
  }
  if (refusal === 'underpriced') {
    intent.isUnderpriced = true;
    engine.fees.expire();
    engine.watching.schedule(0);
  }
  const failure = FINAL_REFUSALS[refusal];
  // A transaction that a node has taken once can be mined; only one that none is known to have taken is given up.
  if (failure !== undefined && intent.state === 'signed') {
    intent.failure = failure;
    engine.dirty.add(intent);
    engine.watching.schedule(0);
  }
}

const FORBIDDEN = {
  code: 'BROADCAST_FORBIDDEN',
  message: 'The caller did not let it out; its nonce was freed.',
} as const;

/** What is signed may be in some pool: its nonce is freed with the next look at the chain. */
function forbid(engine: Engine, intent: LiveIntent): void {
  intent.failure = FORBIDDEN;
  engine.dirty.add(intent);
  engine.watching.schedule(0);
}

async function broadcastOne(engine: Engine, intent: LiveIntent): Promise<void> {
  const version = newestVersion(intent);
  if (intent.offered?.txHash !== version.hash)
    intent.offered = { txHash: version.hash, sinceMs: engine.monotonicNow() };
  // Not offered a second time while it is on its way.
  intent.nextBroadcastAtMs = Number.POSITIVE_INFINITY;
  try {
    if (!(await engine.mayBroadcast(version))) {
      if (intent.nonce === version.nonce) forbid(engine, intent);
      return;
    }
    await engine.chain.broadcast(version);
    // Requeued in the meantime: the answer is about the past.
    if (intent.nonce === version.nonce) accept(engine, intent);
  } catch (error) {
    if (engine.isClosed) return;
    if (error instanceof RpcUnavailableError) {
      engine.emit({ type: 'rpcFault', method: 'eth_sendRawTransaction', reason: error.message });
    }
    if (intent.nonce === version.nonce) refuse(engine, { intent, error });
  }
}

/**
 * Gives the newest bytes of intents to the node, all at once; they are in the journal. What the node says is taken in as it comes.
 *
 * @param intents - with nonces, lowest first
 */
export function broadcastIntents(engine: Engine, intents: readonly LiveIntent[]): void {
  for (const intent of intents) {
    const task: Promise<void> = broadcastOne(engine, intent).finally(() => engine.tasks.delete(task));
    engine.tasks.add(task);
  }
}
