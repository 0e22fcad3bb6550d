import { isDeepEnough } from '@prism-gateway/node/rpc';
import type { Hash } from 'viem';
import type { Receipt } from '../chain/parseReceipt.ts';
import type { TxVersion } from '../intents/intent.ts';
import { currentVersions, describeOutcome, type LiveIntent } from '../intents/liveIntent.ts';
import { type Engine, transition } from './engine.ts';
import { describeSharedKey } from './foreign.ts';

/** A receipt of one of an intent's versions. */
export interface Finding {
  readonly intent: LiveIntent;
  readonly version: TxVersion;
  readonly receipt: Receipt;
  /** The head that was fetched just before, if one was. */
  readonly headNumber?: bigint;
}

function end(engine: Engine, { intent, version, receipt }: Finding): void {
  const { intentId } = intent;
  const { nonce, hash: txHash } = version;
  if (version.kind === 'cancel') {
    transition(engine, { intent, to: 'abandoned' });
    const spentWei = receipt.gasUsed * receipt.effectiveGasPrice + receipt.dataFee;
    if (intent.failure !== undefined) intent.failure = { ...intent.failure, spentWei };
    const code = intent.failure?.code ?? 'TRANSACTION_REFUSED';
    engine.emit({ type: 'abandoned', intentId, nonce, code, spentWei });
    return;
  }
  transition(engine, { intent, to: 'confirmed' });
  intent.failure = undefined;
  intent.sent = describeOutcome(intent, receipt);
  engine.emit({ type: 'confirmed', intentId, nonce, txHash, status: receipt.status });
}

/**
 * Takes in a receipt: the intent is mined, and at its end once the block is deep enough. The including block counts as 1, so that a
 * receipt alone finalizes what wants one confirmation.
 *
 * @param finding - the receipt, of a version on the nonce that the intent holds
 */
export function takeReceipt(engine: Engine, finding: Finding): void {
  const { intent, version, receipt } = finding;
  const { txHash, blockNumber, blockHash } = receipt;
  if (intent.state !== 'mined') {
    transition(engine, { intent, to: 'mined' });
    engine.emit({ type: 'mined', intentId: intent.intentId, nonce: version.nonce, txHash, blockNumber });
  }
  const seenAtMs = intent.mined?.txHash === txHash ? intent.mined.seenAtMs : engine.now();
  intent.mined = { txHash, blockNumber, blockHash, seenAtMs };
  intent.lineage = { version, receipt, headNumber: blockNumber, headHash: blockHash };
  intent.misses = 0;
  engine.dirty.add(intent);
  engine.nonceSeenAtMs = engine.monotonicNow();
  engine.idleRounds = 0;
  // A head of some time ago may be of a branch that is gone.
  const { headNumber = blockNumber } = finding;
  if (isDeepEnough(blockNumber, { head: headNumber, confirmations: intent.confirmations })) end(engine, finding);
}

/**
 * Takes in that a mined transaction is no longer on the chain: its bytes are offered again.
 *
 * @param intent - `mined`
 */
export function takeReorg(engine: Engine, intent: LiveIntent): void {
  const { mined, nonce } = intent;
  transition(engine, { intent, to: intent.failure === undefined ? 'broadcast' : 'cancelling' });
  intent.mined = undefined;
  intent.lineage = undefined;
  intent.nextBroadcastAtMs = 0;
  // A mined intent has a place and a nonce.
  if (mined === undefined || nonce === undefined) throw new TypeError(`intent ${intent.intentId} was mined nowhere`);
  engine.emit({ type: 'reorged', intentId: intent.intentId, nonce, txHash: mined.txHash });
}

/** Which nonce is searched for, from which block backwards. */
interface Search {
  readonly nonce: number;
  readonly headNumber: bigint;
}

/** Finds the block that took the account past a nonce, by doubling steps back from the head and then halving. */
async function findBlock(engine: Engine, { nonce, headNumber }: Search): Promise<bigint | undefined> {
  let passed = headNumber;
  if ((await engine.chain.accountNonce(passed)) <= nonce) return undefined;
  let before = passed - 1n;
  for (let step = 1n; before >= 0n && (await engine.chain.accountNonce(before)) > nonce; step *= 2n) {
    passed = before;
    before -= step;
  }
  if (before < 0n) before = -1n;
  while (passed - before > 1n) {
    const middle = (passed + before) / 2n;
    if ((await engine.chain.accountNonce(middle)) > nonce) passed = middle;
    else before = middle;
  }
  return passed;
}

/** Finds the transaction that consumed a nonce; looked up once more when it was found before. */
async function findConsumer(engine: Engine, search: Search) {
  const { nonce } = search;
  const known = engine.consumers.get(nonce);
  const blockNumber = known?.blockNumber ?? (await findBlock(engine, search));
  if (blockNumber === undefined) return undefined;
  const hash = await engine.chain.findTransaction({ blockNumber, nonce });
  engine.consumers.delete(nonce);
  if (hash === undefined) return undefined;
  engine.consumers.set(nonce, { hash, blockNumber });
  return { hash, blockNumber };
}

/** The old nonce is gone for good, and none of the intent's transactions has it: it may be sent once more, or is given up. */
function takeProof(engine: Engine, { intent, foreignTxHash }: { intent: LiveIntent; foreignTxHash: Hash }): void {
  // A displaced intent has a nonce.
  const nonce = intent.nonce as number;
  const { intentId } = intent;
  engine.consumers.delete(nonce);
  intent.misses = 0;
  engine.emit({ type: 'foreign', nonce, count: 1, txHash: foreignTxHash });
  if (engine.settings.whenKeyIsShared === 'reject') intent.failure ??= describeSharedKey(engine, nonce);
  const { failure } = intent;
  if (failure !== undefined) {
    transition(engine, { intent, to: 'abandoned' });
    engine.emit({ type: 'abandoned', intentId, nonce, code: failure.code, spentWei: 0n });
    return;
  }
  transition(engine, { intent, to: 'queued' });
  intent.nonce = undefined;
  intent.isUnderpriced = false;
  engine.queue.push(intent);
  engine.emit({ type: 'requeued', intentId, nonce, foreignTxHash });
}

/**
 * Settles whose nonce was consumed by a foreign transaction: only once that transaction is known and as deep as the intent's own would have
 * to be, the intent gets another nonce.
 */
export async function resolveDisplaced(engine: Engine): Promise<void> {
  const displaced = [...engine.live.values()].filter((intent) => intent.state === 'displaced');
  if (displaced.length === 0) return;
  const head = await engine.chain.head();
  let count: number | undefined;
  for (const intent of displaced) {
    const nonce = intent.nonce as number;
    const known = engine.consumers.get(nonce);
    const depth = { head: head.number, confirmations: intent.confirmations };
    if (known !== undefined && !isDeepEnough(known.blockNumber, depth)) continue;
    const consumer = await findConsumer(engine, { nonce, headNumber: head.number });
    if (consumer === undefined || !isDeepEnough(consumer.blockNumber, depth)) continue;
    // One of ours, whose receipt the node does not have yet.
    if (currentVersions(intent).some((version) => version.hash === consumer.hash)) continue;
    count ??= await engine.chain.accountNonce('latest');
    engine.nextNonce = Math.max(engine.nextNonce, count);
    takeProof(engine, { intent, foreignTxHash: consumer.hash });
  }
}
