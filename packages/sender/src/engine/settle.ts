import type { Receipt } from '../chain/parseReceipt.ts';
import type { TxVersion } from '../intents/intent.ts';
import { describeOutcome, type LiveIntent } from '../intents/liveIntent.ts';
import { type Engine, transition } from './engine.ts';

/** A receipt of one of an intent's versions. */
export interface Finding {
  readonly intent: LiveIntent;
  readonly version: TxVersion;
  readonly receipt: Receipt;
  /** The head that was fetched just before, where one was. */
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
 * receipt alone settles what wants one confirmation.
 *
 * @param engine - where the intent lives
 * @param finding - the receipt, of a version on the nonce that the intent holds
 */
export function takeReceipt(engine: Engine, finding: Finding): void {
  const { intent, version, receipt } = finding;
  const { txHash, blockNumber, blockHash } = receipt;
  if (intent.state !== 'mined') {
    transition(engine, { intent, to: 'mined' });
    engine.emit({ type: 'mined', intentId: intent.intentId, nonce: version.nonce, txHash, blockNumber });
  }
  intent.mined = { txHash, blockNumber, blockHash };
  intent.lineage = { version, receipt, headNumber: blockNumber, headHash: blockHash };
  intent.misses = 0;
  engine.dirty.add(intent);
  engine.nonceSeenAtMs = engine.monotonicNow();
  engine.idleRounds = 0;
  // A head of some time ago may be of a branch that is gone.
  const { headNumber = blockNumber } = finding;
  if (headNumber - blockNumber + 1n >= BigInt(intent.confirmations)) end(engine, finding);
}

/**
 * Takes in that a mined transaction is no longer on the chain: its bytes are offered again.
 *
 * @param engine - where the intent lives
 * @param intent - `mined`
 */
export function takeReorg(engine: Engine, intent: LiveIntent): void {
  const { mined, nonce } = intent;
  transition(engine, { intent, to: intent.failure === undefined ? 'broadcast' : 'cancelling' });
  intent.mined = undefined;
  intent.lineage = undefined;
  intent.nextBroadcastAtMs = 0;
  // What is mined has a place and a nonce.
  if (mined === undefined || nonce === undefined) throw new TypeError(`intent ${intent.intentId} was mined nowhere`);
  engine.emit({ type: 'reorged', intentId: intent.intentId, nonce, txHash: mined.txHash });
}
