import { setTimeout as pause } from 'node:timers/promises';
import { RpcAnswerError, readRevert } from '@prism-gateway/node/rpc';
import { classifyRefusal } from '../chain/classifyRefusal.ts';
import type { Call, Sent } from '../intents/intent.ts';
import { FINAL_STATES, INTENT_STATES } from '../intents/intentState.ts';
import {
  checkSameCall,
  createDraft,
  createLiveIntent,
  describeIntent,
  type IntentDraft,
  type LiveIntent,
} from '../intents/liveIntent.ts';
import type { Sender, SendOptions } from '../sender.ts';
import { SenderError } from '../senderError.ts';
import { isStuck, unblock } from './bumpFees.ts';
import { type Engine, flush, forgetIntent, outcomeOf, type Waiter } from './engine.ts';
import { lookForForeign, waitForForeign } from './foreign.ts';
import { retryPause } from './retryPause.ts';

function closedError(): SenderError {
  return new SenderError('CLOSED', 'The sender was closed; the journal goes on with the next one.');
}

/** Takes a new intent as far as the queue; whoever waits learns what stops it. */
async function prepare(engine: Engine, intent: LiveIntent): Promise<void> {
  try {
    if (intent.gasLimit === 0n) intent.gasLimit = await estimateGas(engine, intent);
  } catch (error) {
    // Nothing else is thrown by estimating but defects, which belong to the caller, too.
    return forgetIntent(engine, { intent, error: error as SenderError });
  }
  if (engine.isClosed) return;
  engine.queue.push(intent);
  engine.reserving.schedule(0);
}

function addIntent(engine: Engine, draft: IntentDraft): void {
  const intent = createLiveIntent(draft, engine.now());
  engine.live.set(intent.intentId, intent);
  // It never throws: errors go to those who wait.
  void prepare(engine, intent);
}

/** Waits for the outcome of a live intent, or for the signal. */
function waitFor(
  engine: Engine,
  { intentId, signal }: { intentId: string; signal: AbortSignal | undefined },
): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const waiters = engine.waiters.get(intentId) ?? new Set<Waiter>();
    engine.waiters.set(intentId, waiters);
    const leave = () => {
      waiters.delete(waiter);
      reject(signal?.reason);
    };
    const settled = () => signal?.removeEventListener('abort', leave);
    const waiter: Waiter = {
      resolve(sent) {
        settled();
        resolve(sent);
      },
      reject(error) {
        settled();
        reject(error);
      },
    };
    waiters.add(waiter);
    signal?.addEventListener('abort', leave, { once: true });
  });
}

async function send(engine: Engine, wish: { draft: IntentDraft; signal: AbortSignal | undefined }): Promise<Sent> {
  const { draft, signal } = wish;
  const { intentId } = draft;
  const ended = engine.live.has(intentId) ? undefined : engine.journal.ended(intentId);
  if (ended !== undefined) {
    checkSameCall(ended, draft);
    return outcomeOf(ended);
  }
  const known = engine.live.get(intentId) ?? engine.journal.get(intentId);
  if (known === undefined) addIntent(engine, draft);
  else {
    checkSameCall(known, draft);
    if (FINAL_STATES.includes(known.state) && !engine.live.has(intentId)) return outcomeOf(known);
    if (draft.confirmations > known.confirmations && !FINAL_STATES.includes(known.state)) {
      known.confirmations = draft.confirmations;
      engine.dirty.add(known);
    }
  }
  return waitFor(engine, { intentId, signal });
}

function listIntents(engine: Engine, states: readonly LiveIntent['state'][]) {
  const journalled = engine.journal.list(states).filter(({ intentId }) => !engine.live.has(intentId));
  const live = [...engine.live.values()].filter(({ state }) => states.includes(state));
  const all = [...engine.journal.listEnded(states), ...[...journalled, ...live].map(describeIntent)];
  return all.sort((a, b) => a.createdAtMs - b.createdAtMs);
}

async function close(engine: Engine, release: () => void): Promise<void> {
  if (engine.isClosed) return;
  engine.isClosed = true;
  engine.chain.close();
  await Promise.all([engine.reserving.stop(), engine.watching.stop(), ...engine.tasks]);
  flush(engine);
  for (const waiters of engine.waiters.values()) for (const waiter of waiters) waiter.reject(closedError());
  engine.waiters.clear();
  engine.journal.close();
  release();
}

/**
 * Gives a running engine the face that callers see.
 *
 * @param parts - the default for confirmations, and what frees the locks
 */
export function createSender(
  engine: Engine,
  parts: { readonly confirmations: number; readonly release: () => void },
): Sender {
  const assertOpen = () => {
    if (engine.isClosed) throw closedError();
  };
  let closing: Promise<void> | undefined;
  return {
    address: engine.account.address,
    chainId: engine.settings.chainId,
    async send(intentId: string, call: Call, options: SendOptions = {}) {
      assertOpen();
      options.signal?.throwIfAborted();
      const draft = createDraft({ intentId, call, options, confirmations: parts.confirmations });
      return await send(engine, { draft, signal: options.signal });
    },
    get(intentId) {
      assertOpen();
      const intent = engine.live.get(intentId) ?? engine.journal.get(intentId);
      return intent === undefined ? engine.journal.ended(intentId) : describeIntent(intent);
    },
    list(filter = {}) {
      assertOpen();
      return listIntents(engine, filter.states ?? INTENT_STATES);
    },
    inFlight: () => engine.live.size,
    async checkKey() {
      assertOpen();
      await lookForForeign(engine);
      engine.nonceSeenAtMs = engine.monotonicNow();
      await waitForForeign(engine);
    },
    async prune(intentIds) {
      assertOpen();
      const final = await engine.chain.finalNonce();
      return final === undefined ? [] : engine.journal.prune(intentIds, final);
    },
    isHeld: () => engine.heldBelow !== undefined,
    isStuck: (market) => isStuck(engine, market),
    unblock: (work) => unblock(engine, work),
    deprioritize: engine.chain.deprioritize,
    close: () => (closing ??= close(engine, parts.release)),
  };
}

/** Beside a revert: what the common nodes say of calls that cannot succeed with whatever gas. */
const HOPELESS = /invalid opcode|out of gas|gas required exceeds|always failing|bad instruction|stack underflow/i;

/** @returns why the call cannot be sent, or undefined if the node said nothing of the kind */
function readRefusal(error: unknown): SenderError | undefined {
  if (!(error instanceof RpcAnswerError)) return undefined;
  if (classifyRefusal(error) === 'funds') {
    return new SenderError('INSUFFICIENT_FUNDS', 'The account cannot pay for the call; fund the account.', {
      cause: error,
    });
  }
  const revert = readRevert(error);
  if (revert === undefined && !HOPELESS.test(error.message)) return undefined;
  const message = `The call would revert: ${error.message}; nothing was sent.`;
  return new SenderError('CALL_REVERTED', message, { cause: error, data: revert?.reverted });
}

/**
 * Asks the node how much gas an intent's call takes, and adds the margin.
 *
 * @throws SenderError `CALL_REVERTED`, `INSUFFICIENT_FUNDS`, `RPC_UNAVAILABLE`, `CLOSED`
 */
async function estimateGas(engine: Engine, intent: LiveIntent): Promise<bigint> {
  const { gasMarginPercent, pollIntervalMs, nodeTimeoutMs } = engine.settings;
  const sinceMs = engine.monotonicNow();
  for (let faults = 1; ; faults++) {
    try {
      const gas = await engine.chain.estimateGas(intent.call);
      return (gas * BigInt(100 + gasMarginPercent) + 99n) / 100n;
    } catch (error) {
      if (engine.isClosed) throw new SenderError('CLOSED', 'The sender was closed.');
      const refusal = readRefusal(error);
      if (refusal !== undefined) throw refusal;
      engine.emit({
        type: 'rpcFault',
        method: 'eth_estimateGas',
        reason: error instanceof Error ? error.message : 'unknown',
      });
      if (engine.monotonicNow() - sinceMs >= nodeTimeoutMs) {
        const message = 'The node does not estimate gas; nothing was sent, try again later.';
        throw new SenderError('RPC_UNAVAILABLE', message, { cause: error });
      }
      await pause(retryPause(error, { faults, pollIntervalMs }));
    }
  }
}
