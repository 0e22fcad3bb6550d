import { type Fees, type Market, offerFees } from '../fees/fees.ts';
import type { TxVersion } from '../intents/intent.ts';
import { type LiveIntent, newestVersion } from '../intents/liveIntent.ts';
import { SenderError } from '../senderError.ts';
import { broadcastIntents } from './broadcast.ts';
import { ceilingOf, type Engine, forgetIntent, transition, unminedIntents } from './engine.ts';
import { lookForForeign, waitForForeign } from './foreign.ts';
import { retryPause } from './retryPause.ts';
import { signVersion } from './signVersion.ts';

/** Signed and stored together; while the node works on one group, the next is signed (about a millisecond each). */
const GROUP_SIZE = 16;
/** If nothing was sent for this long, somebody else may have used the key: the account nonce is asked for again. */
const NONCE_MAX_AGE_MS = 60_000;

/** An intent of the queue, and what is offered for it. */
interface Offer {
  readonly intent: LiveIntent;
  readonly fees: Fees;
}

/** One version for each intent. */
interface SignedGroup {
  readonly group: readonly LiveIntent[];
  readonly versions: readonly TxVersion[];
}

function costOf({ intent, fees }: Offer): bigint {
  return intent.call.value + intent.gasLimit * fees.maxFeePerGas;
}

/** The most that what is on its way may still cost. */
function committedWei(engine: Engine): bigint {
  return unminedIntents(engine).reduce((sum, intent) => sum + costOf({ intent, fees: newestVersion(intent) }), 0n);
}

/** Reports once that gas costs more than the ceiling, until it no longer does. */
function recordCeiling(engine: Engine, { neededWei, isAbove }: { neededWei: bigint; isAbove: boolean }): void {
  const { ceiling } = engine.settings;
  if (isAbove && !engine.isAboveCeiling && ceiling !== undefined) {
    engine.emit({ type: 'gasPriceTooHigh', neededWei, ceilingWei: ceiling });
  }
  engine.isAboveCeiling = isAbove;
}

/** Refuses those of the queue whose ceiling is below what gas costs, and who do not wait for it to fall. */
function rejectForGas(engine: Engine, neededWei: bigint): void {
  for (const intent of engine.queue.filter(({ rejectsHighGas, isJournalled }) => rejectsHighGas && !isJournalled)) {
    const ceiling = ceilingOf(engine, intent);
    if (ceiling === undefined || ceiling >= neededWei) continue;
    const message = `Gas costs ${neededWei} wei, more than the ceiling of ${ceiling}; try later or raise maxFeePerGas.`;
    forgetIntent(engine, { intent, error: new SenderError('GAS_PRICE_TOO_HIGH', message) });
  }
}

/** Refuses those of the queue that have expired while they waited, or before: signed now, each would cost the freeing of its nonce. */
function rejectExpired(engine: Engine): void {
  const nowMs = engine.now();
  const expired = engine.queue.filter(
    ({ expiresAtMs, isJournalled }) => !isJournalled && expiresAtMs !== undefined && expiresAtMs <= nowMs,
  );
  const message = 'It had expired before it was signed; nothing was sent.';
  for (const intent of expired) forgetIntent(engine, { intent, error: new SenderError('EXPIRED', message) });
}

/** Offers what gets them mined for those at the front whose ceilings allow it; the others wait, and hold nobody up. */
function offerGroup(engine: Engine, market: Market): readonly Offer[] {
  const room = engine.settings.maxInFlight - unminedIntents(engine).length;
  const offers: Offer[] = [];
  for (const intent of engine.queue) {
    if (offers.length >= Math.min(room, GROUP_SIZE)) break;
    const fees = offerFees(market, ceilingOf(engine, intent));
    if (fees !== undefined) offers.push({ intent, fees });
  }
  return offers;
}

async function refreshNonce(engine: Engine): Promise<void> {
  const nowMs = engine.monotonicNow();
  if (nowMs - engine.nonceSeenAtMs < NONCE_MAX_AGE_MS || unminedIntents(engine).length > 0) return;
  await lookForForeign(engine);
  engine.nonceSeenAtMs = nowMs;
}

/** Takes as many from the front as the account can pay for. @returns none: wait, or nobody is left */
async function pickAffordable(engine: Engine, offers: readonly Offer[]): Promise<readonly Offer[]> {
  const total = offers.reduce((sum, offer) => sum + costOf(offer), 0n);
  if (engine.spendableWei === undefined || engine.spendableWei < total) {
    engine.spendableWei = (await engine.chain.balance()) - committedWei(engine);
  }
  let leftWei = engine.spendableWei;
  const affordable: Offer[] = [];
  for (const offer of offers) {
    leftWei -= costOf(offer);
    if (leftWei < 0n) break;
    affordable.push(offer);
  }
  const first = offers[0];
  if (affordable.length > 0 || first === undefined) {
    engine.isShort = false;
    return affordable;
  }
  const neededWei = costOf(first);
  if (!engine.isShort) engine.emit({ type: 'insufficientFunds', balanceWei: engine.spendableWei, neededWei });
  engine.isShort = true;
  // A transaction on its way may cost less than was set aside for it.
  if (unminedIntents(engine).length > 0 || first.intent.isJournalled) return [];
  const message = `The account has ${engine.spendableWei} wei to spend, and the transaction may cost ${neededWei}; fund the account.`;
  forgetIntent(engine, { intent: first.intent, error: new SenderError('INSUFFICIENT_FUNDS', message) });
  return [];
}

/** Signs for the next nonces. @returns nothing if one could not be signed; it has left the queue */
async function signGroup(engine: Engine, offers: readonly Offer[]): Promise<readonly TxVersion[] | undefined> {
  const drafts = offers.map(({ intent: { intentId, call, gasLimit }, fees }, place) =>
    signVersion(engine, { intentId, nonce: engine.nextNonce + place, kind: 'call', call, gasLimit, fees }),
  );
  const signed = await Promise.allSettled(drafts);
  const versions: TxVersion[] = [];
  for (const [place, result] of signed.entries()) {
    // One result for each intent.
    const { intent } = offers[place] as Offer;
    if (result.status === 'fulfilled') {
      versions.push(result.value);
      continue;
    }
    // Nothing else is thrown by signing; what the account itself has said stays with the cause.
    const reason = result.reason as SenderError;
    engine.emit({ type: 'signingFault', intentId: intent.intentId, reason: reason.message });
    if (!intent.isJournalled) forgetIntent(engine, { intent, error: reason });
  }
  return versions.length === offers.length ? versions : undefined;
}

/** The one write that makes a sending durable: intents, nonces and signed bytes together. Throws before anything has changed. */
function storeGroup(engine: Engine, { group, versions }: SignedGroup): void {
  const updatedAtMs = engine.now();
  // One version for each intent.
  const stored = group.map((intent, place): LiveIntent => {
    const version = versions[place] as TxVersion;
    return { ...intent, state: 'signed', nonce: version.nonce, versions: [...intent.versions, version], updatedAtMs };
  });
  engine.journal.commit({ intents: stored, versions });
  for (const [place, intent] of group.entries()) {
    const version = versions[place] as TxVersion;
    transition(engine, { intent, to: 'signed' });
    Object.assign(intent, { nonce: version.nonce, versions: [...intent.versions, version], isJournalled: true });
    engine.dirty.delete(intent);
    engine.emit({ type: 'signed', intentId: intent.intentId, nonce: version.nonce, txHash: version.hash });
  }
  engine.nextNonce += group.length;
  for (const intent of group) engine.queue.splice(engine.queue.indexOf(intent), 1);
}

async function reserveGroup(engine: Engine): Promise<number | undefined> {
  rejectExpired(engine);
  const room = engine.settings.maxInFlight - unminedIntents(engine).length;
  // With room again, or something to send, the round is asked for.
  if (room <= 0 || engine.queue.length === 0) return undefined;
  const { pollIntervalMs, ceiling } = engine.settings;
  if (!(await waitForForeign(engine))) return pollIntervalMs;
  const market = await engine.fees.market();
  const neededWei = market.baseFeePerGas + market.tip;
  recordCeiling(engine, { neededWei, isAbove: ceiling !== undefined && neededWei > ceiling });
  const offers = offerGroup(engine, market);
  rejectForGas(engine, neededWei);
  if (offers.length === 0) {
    engine.fees.expire();
    return engine.queue.length === 0 ? undefined : pollIntervalMs;
  }
  await refreshNonce(engine);
  if (engine.heldBelow !== undefined) return 0;
  const affordable = await pickAffordable(engine, offers);
  if (affordable.length === 0) return pollIntervalMs;
  const versions = await signGroup(engine, affordable);
  if (versions === undefined) return pollIntervalMs;
  // The chain went past these nonces while they were signed for; nothing has left this process yet.
  if (versions[0]?.nonce !== engine.nextNonce) return 0;
  const group = affordable.map(({ intent }) => intent);
  storeGroup(engine, { group, versions });
  engine.spendableWei = affordable.reduce((left, offer) => left - costOf(offer), engine.spendableWei ?? 0n);
  broadcastIntents(engine, group);
  return 0;
}

function takeFault(engine: Engine, error: unknown): number {
  const isJournal = error instanceof SenderError && error.code === 'JOURNAL_FAILED';
  const reason = error instanceof Error ? error.message : 'unknown';
  engine.emit(isJournal ? { type: 'journalFault', reason } : { type: 'rpcFault', method: 'reserve', reason });
  const faults = ++engine.faults.reserve;
  engine.faultyWhen ??= engine.monotonicNow();
  const { pollIntervalMs, nodeTimeoutMs } = engine.settings;
  if (engine.monotonicNow() - engine.faultyWhen >= nodeTimeoutMs) {
    const message = 'The node does not answer; nothing was sent, try again later.';
    const rejection = isJournal ? error : new SenderError('RPC_UNAVAILABLE', message, { cause: error });
    for (const intent of engine.queue.filter((queued) => !queued.isJournalled))
      forgetIntent(engine, { intent, error: rejection });
  }
  return retryPause(error, { faults, pollIntervalMs });
}

/**
 * Gives nonces to queued intents: fees, funds, signatures, one write for all of them, and only then the broadcast.
 *
 * @returns in how many milliseconds the next round is due; undefined: when it is asked for
 */
export async function reserveRound(engine: Engine): Promise<number | undefined> {
  try {
    const delayMs = await reserveGroup(engine);
    engine.faults.reserve = 0;
    engine.faultyWhen = undefined;
    return engine.isClosed ? undefined : delayMs;
  } catch (error) {
    return engine.isClosed ? undefined : takeFault(engine, error);
  }
}
