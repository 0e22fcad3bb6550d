import { leastAgreed, mostAgreed, RpcUnavailableError } from '@prism-gateway/node/rpc';
import type { NodeCount } from '../chain/createChain.ts';
import type { IntentFailure } from '../intents/intent.ts';
import { SenderError } from '../senderError.ts';
import { type Engine, forgetIntent, unminedIntents } from './engine.ts';
import { freeNonce, offer } from './fillGaps.ts';

/** More than this ahead of the journal is no account nonce, but nonsense. */
const MAX_NONCE_JUMP = 100_000;
/** The journal's fact: account nonces below it are known, or were reported. */
const KNOWN_NONCE = 'knownNonce';
/** The journal's fact: the nonce of the transaction that is waited for, and since when. */
const WAITS_SINCE = 'waitsSince';

/** Why an intent is given up that somebody else's transaction has come before. */
export function describeSharedKey({ account }: Engine, nonce: number): IntentFailure {
  const message = `A transaction of ${account.address} that this journal does not know has account nonce ${nonce}; look whether the call is still wanted.`;
  return { code: 'KEY_USED_ELSEWHERE', message };
}

/** The first account nonce that nothing is known of; undefined: the journal is empty, and says nothing of what was before. */
function firstUnknown({ journal }: Engine): number | undefined {
  const [signed, known] = [journal.highestNonce(), journal.fact(KNOWN_NONCE)];
  if (signed === undefined && known === undefined) return undefined;
  return Math.max((signed ?? -1) + 1, Number(known ?? 0));
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
  engine.journal.setFact(KNOWN_NONCE, `${to}`);
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
  if (from === undefined) engine.journal.setFact(KNOWN_NONCE, `${pendingNonce}`);
  else if (pendingNonce > from) takeForeign(engine, { from, to: pendingNonce, isOld: true });
  const isUnknown = pendingNonce > (engine.journal.highestNonce() ?? -1) + 1;
  const isHeld = isUnknown && pendingNonce > latestNonce && engine.settings.whenKeyIsShared === 'reject';
  engine.heldBelow = isHeld ? pendingNonce : undefined;
}

/** Account nonces below this one are mined, and as deep as they have to be: a node that knows of fewer lags, or lies. */
function firstOpen({ live, nextNonce }: Engine): number {
  return Math.min(nextNonce, ...[...live.values()].flatMap(({ nonce }) => nonce ?? []));
}

/** How many transactions there are as two nodes have it, or the only one there is: that one of several answers alone is no proof. */
function countAgreed({ chain, nextNonce }: Engine, counts: readonly NodeCount[]): number {
  return chain.nodes > 1 && counts.length === 1 ? nextNonce : leastAgreed(counts.map(({ count }) => count));
}

/**
 * Looks whether nodes know transactions of the account that the journal does not. A node that lags says less; ours never goes back. Of
 * several nodes two have to say so, or one has to show such a transaction, with the key's signature: a nonce that is made up holds nobody.
 *
 * @param engine - reported by an event, and held until they are mined, if it is set to be
 * @throws RpcAnswerError, RpcUnavailableError if no node says, or all say nonsense
 */
export async function lookForForeign(engine: Engine): Promise<void> {
  const { chain, nextNonce } = engine;
  const counts = await chain.accountNonces('pending');
  const likely = counts.filter(({ count }) => count <= nextNonce + MAX_NONCE_JUMP);
  if (likely.length === 0) throw new RpcUnavailableError('the account nonce is nonsense');
  const isMore = counts.some(({ count }) => count > nextNonce);
  const shown = isMore && chain.nodes > 1 ? await chain.showWaiting(nextNonce) : [];
  const known = Math.max(countAgreed(engine, likely), ...shown.map((nonce) => nonce + 1));
  // Meanwhile it may have signed for some of them itself.
  const from = engine.nextNonce;
  if (known > from) takeForeign(engine, { from, to: known });
  for (const { node, count } of counts) {
    const isAlone = count > Math.max(from, known) || (chain.nodes > 1 && count < firstOpen(engine));
    if (isAlone) engine.emit({ type: 'outlier', node, count, agreed: engine.nextNonce });
  }
}

/** Rejects intents handed over before somebody else's transactions were mined: they may be worth nothing after them. */
function rejectQueued(engine: Engine): void {
  const { code, message } = describeSharedKey(engine, engine.nextNonce - 1);
  for (const intent of engine.queue.filter(({ isJournalled }) => !isJournalled))
    forgetIntent(engine, { intent, error: new SenderError(code, message) });
}

/** A node's state of transactions that the journal does not know: they wait for a block, are mined, or the node has dropped them. */
type PoolState = 'waiting' | 'mined' | 'dropped';

/** The nodes' joint answer. On a tie it does not wait, unless a node can show a waiting transaction, and none says that it is mined. */
async function findPoolState(
  { chain, live, nextNonce }: Engine,
  counts: readonly { readonly latest: number; readonly state: PoolState }[],
): Promise<PoolState> {
  const count = (wanted: PoolState) => counts.filter(({ state }) => state === wanted).length;
  const [waiting, mined, dropped] = [count('waiting'), count('mined'), count('dropped')];
  const over = mined >= dropped ? 'mined' : 'dropped';
  if (waiting > mined + dropped) return 'waiting';
  if (waiting === 0 || mined > 0) return over;
  const own = new Set([...live.values()].map(({ nonce }) => nonce));
  const shown = await chain.showWaiting(Math.min(...counts.map(({ latest }) => latest)));
  return shown.some((nonce) => nonce < nextNonce && !own.has(nonce)) ? 'waiting' : over;
}

/** Asks each node; one that says only how many are mined, or only how many wait, says nothing. */
async function readPoolStates({ chain }: Engine, heldBelow: number) {
  const [latest, pending] = await Promise.all([chain.accountNonces('latest'), chain.accountNonces('pending')]);
  const waiting = new Map(pending.map(({ node, count }) => [node, count]));
  const counts = latest.flatMap(({ node, count }) => {
    const all = waiting.get(node);
    if (all === undefined) return [];
    const state: PoolState = count >= heldBelow ? 'mined' : all > count ? 'waiting' : 'dropped';
    return [{ latest: count, state }];
  });
  if (counts.length === 0) throw new RpcUnavailableError('no node says how many transactions there are');
  return counts;
}

/** Since when the transaction of a nonce is waited for; Unix milliseconds. */
function waitsSince({ journal, now }: Engine, nonce: number): number {
  const [known, sinceMs = Number.NaN] = (journal.fact(WAITS_SINCE) ?? '').split(' ').map(Number);
  const nowMs = now();
  if (known === nonce && sinceMs <= nowMs) return sinceMs;
  journal.setFact(WAITS_SINCE, `${nonce} ${nowMs}`);
  return nowMs;
}

/**
 * Takes the nonce of what has waited for too long: it may offer too little for ever, and nobody knows it any more who could raise it. One
 * nonce each time, so that a node that makes such transactions up costs little.
 */
async function freeForeign(engine: Engine, nonce: number): Promise<void> {
  const { freeForeignAfterMs, bumpAfterMs } = engine.settings;
  const nowMs = engine.now();
  if (freeForeignAfterMs === undefined || nowMs - waitsSince(engine, nonce) < freeForeignAfterMs) return;
  const last = engine.journal.versionsOn(nonce).at(-1);
  // Intents are raised by themselves.
  if (last !== undefined && (last.intentId !== undefined || nowMs - last.createdAtMs < bumpAfterMs)) return;
  const next = await freeNonce(engine, nonce, last);
  if (next !== undefined && (await engine.mayBroadcast(next))) await offer(engine, next);
}

/**
 * Waits for transactions of the account that the journal does not know: until they are mined, or the nodes have dropped them.
 *
 * @param engine - nothing is signed while it is held; what waited in its queue is rejected in the end
 * @returns whether it may go on
 * @throws RpcAnswerError, RpcUnavailableError if no node says
 */
export async function waitForForeign(engine: Engine): Promise<boolean> {
  const { heldBelow } = engine;
  if (heldBelow === undefined) return true;
  const counts = await readPoolStates(engine, heldBelow);
  const state = await findPoolState(engine, counts);
  // The nonce to wait for has changed meanwhile.
  if (engine.heldBelow !== heldBelow) return false;
  if (state === 'waiting') {
    await freeForeign(engine, mostAgreed(counts.map(({ latest }) => latest)));
    return false;
  }
  if (state === 'dropped') {
    // Our own transactions stand behind it.
    if (unminedIntents(engine).length > 0) return false;
    const latest = leastAgreed(counts.map((one) => one.latest));
    engine.nextNonce = Math.max(latest, (engine.journal.highestNonce() ?? -1) + 1);
    engine.journal.setFact(KNOWN_NONCE, `${engine.nextNonce}`);
  }
  engine.heldBelow = undefined;
  rejectQueued(engine);
  return engine.queue.length > 0;
}
