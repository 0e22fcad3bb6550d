import { RpcUnavailableError } from '@prism-gateway/rpc';
import type { IntentFailure } from '../intents/intent.ts';
import { SenderError } from '../senderError.ts';
import { type Engine, forgetIntent, unminedIntents } from './engine.ts';

/** More than this ahead of the journal is no account nonce, but nonsense. */
const MAX_NONCE_JUMP = 100_000;
/** The journal's fact: account nonces below it are known, or were told of. */
const SETTLED = 'settledNonce';

/** Why an intent is given up that somebody else's transaction has come before. */
export function describeSharedKey({ account }: Engine, nonce: number): IntentFailure {
  const message = `A transaction of ${account.address} that this journal does not know has account nonce ${nonce}; look whether the call is still wanted.`;
  return { code: 'KEY_USED_ELSEWHERE', message };
}

/** The first account nonce that nothing is known of; undefined: the journal is empty, and tells nothing of what was before. */
function firstUnknown({ journal }: Engine): number | undefined {
  const [signed, settled] = [journal.highestNonce(), journal.fact(SETTLED)];
  if (signed === undefined && settled === undefined) return undefined;
  return Math.max((signed ?? -1) + 1, Number(settled ?? 0));
}

/** Takes in that the account has made more transactions than the journal knows. */
function takeForeign(
  engine: Engine,
  seen: { readonly from: number; readonly to: number; readonly isOld?: boolean },
): void {
  const { from, to, isOld } = seen;
  engine.nextNonce = Math.max(engine.nextNonce, to);
  if (engine.settings.whenKeyIsShared === 'reject') engine.heldBelow = to;
  engine.emit({ type: 'foreign', nonce: from, count: to - from, ...(isOld && { isOld }) });
  engine.journal.setFact(SETTLED, `${to}`);
}

/**
 * Compares where the account stands when a sender is opened with what the journal knows. What an empty journal does not know is no
 * evidence that somebody else uses the key; but what of it waits for a block is waited for.
 *
 * @param counts - the account's transaction count, without and with what waits in the node
 */
export function takeOpeningCount(
  engine: Engine,
  { pendingNonce, latestNonce }: { readonly pendingNonce: number; readonly latestNonce: number },
): void {
  const from = firstUnknown(engine);
  if (from === undefined) engine.journal.setFact(SETTLED, `${pendingNonce}`);
  else if (pendingNonce > from) takeForeign(engine, { from, to: pendingNonce, isOld: true });
  const isUnknown = pendingNonce > (engine.journal.highestNonce() ?? -1) + 1;
  const isHeld = isUnknown && pendingNonce > latestNonce && engine.settings.whenKeyIsShared === 'reject';
  engine.heldBelow = isHeld ? pendingNonce : undefined;
}

/**
 * Looks whether the node knows transactions of the account that the journal does not. A node that lags says less; ours never goes back.
 *
 * @param engine - told by an event, and held until they are mined, if it is told to be
 * @throws RpcAnswerError, RpcUnavailableError where the node does not say, or nonsense
 */
export async function lookForForeign(engine: Engine): Promise<void> {
  const pending = await engine.chain.accountNonce('pending');
  if (pending > engine.nextNonce + MAX_NONCE_JUMP) throw new RpcUnavailableError('the account nonce is nonsense');
  if (pending > engine.nextNonce) takeForeign(engine, { from: engine.nextNonce, to: pending });
}

/** What was handed over before somebody else's transactions were mined may be worth nothing after them. */
function rejectQueued(engine: Engine): void {
  const { code, message } = describeSharedKey(engine, engine.nextNonce - 1);
  for (const intent of engine.queue.filter(({ isJournalled }) => !isJournalled))
    forgetIntent(engine, { intent, error: new SenderError(code, message) });
}

/**
 * Waits for transactions of the account that the journal does not know: until they are mined, or the node has dropped them.
 *
 * @param engine - nothing is signed while it is held; what waited in its queue is rejected in the end
 * @returns whether it may go on
 * @throws RpcAnswerError, RpcUnavailableError where the node does not say
 */
export async function waitForForeign(engine: Engine): Promise<boolean> {
  const { heldBelow } = engine;
  if (heldBelow === undefined) return true;
  const latest = await engine.chain.accountNonce('latest');
  if (latest < heldBelow) {
    const pending = await engine.chain.accountNonce('pending');
    // What the node still has is waited for, and so is what is our own: it stands behind.
    if (pending > latest || unminedIntents(engine).length > 0) return false;
    engine.nextNonce = Math.max(latest, (engine.journal.highestNonce() ?? -1) + 1);
    engine.journal.setFact(SETTLED, `${engine.nextNonce}`);
  }
  engine.heldBelow = undefined;
  rejectQueued(engine);
  return engine.queue.length > 0;
}
