import { TRANSFER_GAS } from '@prism-gateway/node/rpc';
import { hexToBytes } from 'viem/utils';
import { type Fees, type Market, offerFees, raise, raiseFees } from '../fees/fees.ts';
import type { IntentFailure, TxVersion } from '../intents/intent.ts';
import { type LiveIntent, newestVersion } from '../intents/liveIntent.ts';
import { broadcastIntents } from './broadcast.ts';
import { ceilingOf, type Engine, transition, unminedIntents } from './engine.ts';
import { signCancellation, signVersion } from './signVersion.ts';

/** How many times the market's price an offer may be: beyond it more money does not help. More for one that the node calls too low. */
const MAX_TIMES_MARKET = 4n;
const MAX_TIMES_MARKET_UNDERPRICED = 16n;

/**
 * The most that a version may offer, in wei. The transaction that frees a nonce is bounded by the sender's ceiling alone, and may offer so much
 * more that it can take the place of a call that has offered as much as it could.
 */
function ceilingFor(
  engine: Engine,
  { kind, maxFeePerGas }: { readonly kind: TxVersion['kind'] } & Pick<LiveIntent, 'maxFeePerGas'>,
): bigint | undefined {
  const { ceiling, bumpPercent } = engine.settings;
  if (kind === 'call') return ceilingOf(engine, { maxFeePerGas });
  return ceiling === undefined ? undefined : raise(ceiling, bumpPercent);
}

/** Finds the fees of the next version on a nonce. @returns undefined: nothing more is offered for now */
export async function nextFees(
  engine: Engine,
  offer: {
    readonly before: TxVersion;
    readonly kind: TxVersion['kind'];
    readonly maxFeePerGas: bigint | undefined;
    readonly isUnderpriced: boolean;
  },
): Promise<Fees | undefined> {
  const { before, isUnderpriced } = offer;
  const market = await engine.fees.market();
  const { bumpPercent: percent, ceiling } = engine.settings;
  const times = isUnderpriced ? MAX_TIMES_MARKET_UNDERPRICED : MAX_TIMES_MARKET;
  if (before.maxFeePerGas > times * (2n * market.baseFeePerGas + market.tip)) return undefined;
  const isAbove = offerFees(market, ceiling) === undefined;
  if (isAbove && !engine.isAboveCeiling && ceiling !== undefined) {
    engine.emit({ type: 'gasPriceTooHigh', neededWei: market.baseFeePerGas + market.tip, ceilingWei: ceiling });
  }
  engine.isAboveCeiling = isAbove;
  return isAbove ? undefined : raiseFees(before, { market, percent, ceiling: ceilingFor(engine, offer) });
}

/** Some chains charge more than 21,000 for a transfer. */
async function transferGas(engine: Engine): Promise<bigint> {
  try {
    const gas = await engine.chain.estimateGas({ to: engine.account.address, data: '0x', value: 0n });
    return gas > TRANSFER_GAS ? (gas * BigInt(100 + engine.settings.gasMarginPercent)) / 100n : TRANSFER_GAS;
  } catch {
    return TRANSFER_GAS;
  }
}

/** Signs one more version on the intent's nonce, stores it, and only then offers it. */
async function replace(
  engine: Engine,
  wanted: { intent: LiveIntent; kind: TxVersion['kind']; failure?: IntentFailure },
): Promise<void> {
  const { intent, kind, failure = intent.failure } = wanted;
  const { maxFeePerGas, isUnderpriced } = intent;
  const fees = await nextFees(engine, { before: newestVersion(intent), kind, maxFeePerGas, isUnderpriced });
  // Asked again after another round of waiting, or when the node says so again.
  intent.isUnderpriced = false;
  if (fees === undefined) return;
  const { intentId, state, nonce } = intent;
  // An unmined intent has a nonce.
  const base = { intentId, fees, nonce: nonce as number };
  const version =
    kind === 'call'
      ? await signVersion(engine, { ...base, kind, call: intent.call, gasLimit: intent.gasLimit })
      : await signCancellation(engine, { ...base, gasLimit: await transferGas(engine) });
  const versions = [...intent.versions, version];
  const to = kind === 'cancel' ? 'cancelling' : intent.state;
  // A broadcast's answer may have come in the meantime; the next round sees to it.
  if (intent.state !== state) return;
  engine.journal.commit({
    intents: [{ ...intent, state: to, versions, failure, updatedAtMs: engine.now() }],
    versions: [version],
  });
  intent.versions = versions;
  intent.failure = failure;
  if (to !== intent.state) {
    transition(engine, { intent, to });
    engine.emit({
      type: 'cancelling',
      intentId,
      nonce: version.nonce,
      code: intent.failure?.code ?? 'TRANSACTION_REFUSED',
    });
  }
  engine.emit({
    type: 'bumped',
    intentId,
    nonce: version.nonce,
    txHash: version.hash,
    maxFeePerGas: fees.maxFeePerGas,
  });
  broadcastIntents(engine, [intent]);
}

/** What is offered for a nonce. */
interface Offer {
  readonly offered: TxVersion;
  /** The most that its call may offer. */
  readonly maxFeePerGas: bigint | undefined;
}

const offerOf = (intent: LiveIntent): Offer => ({
  offered: newestVersion(intent),
  maxFeePerGas: intent.maxFeePerGas,
});

/** What was signed for the lowest nonce that is free on the chain. */
function findFirst(engine: Engine): Offer | undefined {
  const [first] = unminedIntents(engine);
  if (first === undefined) return undefined;
  const { gap } = engine;
  if (gap === undefined) return offerOf(first);
  const { version: offered } = gap;
  const intent = offered?.intentId === undefined ? undefined : engine.journal.get(offered.intentId);
  return offered && { offered, maxFeePerGas: intent?.maxFeePerGas };
}

/** Whether a version offers less than a block takes at a price, and may offer no more: the one place that does. */
function isTooLow(engine: Engine, { offered, maxFeePerGas }: Offer, market: Market): boolean {
  // What offers less than both is in no block of a full market, and full pools drop it.
  if (offered.maxFeePerGas >= market.baseFeePerGas + market.tip) return false;
  const ceiling = ceilingFor(engine, { kind: offered.kind, maxFeePerGas });
  return raiseFees(offered, { market, percent: engine.settings.bumpPercent, ceiling }) === undefined;
}

/** Whether the first in line holds up all that is sent now. */
export function isStuck(engine: Engine, market: Market): boolean {
  const first = findFirst(engine);
  return first !== undefined && isTooLow(engine, first, market);
}

/** How long the freeing of nonces goes on that somebody has asked for, in milliseconds: several blocks of most chains. */
const UNBLOCK_MS = 60_000;

/**
 * Has as many nonces freed of what is too low as there is work that pays: in the line already, or about to be sent.
 *
 * @returns whether there is any
 */
export function unblock(
  engine: Engine,
  { waiting, market }: { readonly waiting: number; readonly market: Market },
): boolean {
  const paying = unminedIntents(engine).filter(
    (intent) => intent.state === 'broadcast' && !isTooLow(engine, offerOf(intent), market),
  );
  const count = waiting + paying.length;
  if (count > 0) engine.unblocking = { untilMs: engine.monotonicNow() + UNBLOCK_MS, count };
  return count > 0;
}

/** What is in the way of work: from the first in line on as many as there is work, those included whose nonces are being freed. */
async function listInTheWay(engine: Engine, line: readonly LiveIntent[]): Promise<ReadonlySet<LiveIntent>> {
  const { unblocking, gap } = engine;
  if (engine.monotonicNow() >= unblocking.untilMs || gap !== undefined) return new Set();
  const market = await engine.fees.market();
  const inTheWay = line.filter((one) => one.state === 'cancelling' || isTooLow(engine, offerOf(one), market));
  return new Set(inTheWay.slice(0, unblocking.count));
}

/** Only the first in line holds up the others; one that the node calls too low can never be mined as it is. */
function isBumpDue(engine: Engine, { intent, place }: { intent: LiveIntent; place: number }): boolean {
  if (intent.isUnderpriced) return true;
  const { offered } = intent;
  if (place > 0 || engine.gap !== undefined || offered === undefined) return false;
  return engine.monotonicNow() - offered.sinceMs >= engine.settings.bumpAfterMs;
}

const EXPIRED: IntentFailure = {
  code: 'EXPIRED',
  message: 'The transaction was in no block in time; its nonce was freed.',
};

/** Gas of its calldata alone: the least that a transaction uses which is mined in vain. @see EIP-2028 */
function leastGas({ call: { data } }: LiveIntent): bigint {
  const bytes = hexToBytes(data);
  const zeros = bytes.reduce((count, byte) => (byte === 0 ? count + 1 : count), 0);
  return TRANSFER_GAS + 4n * BigInt(zeros) + 16n * BigInt(bytes.length - zeros);
}

/**
 * Whether an intent's nonce is to be freed: it has expired, and that costs no more than hoping that it is not mined in vain; or work waits,
 * and it has expired or is in the way.
 */
async function isCancelDue(
  engine: Engine,
  { intent, isInTheWay }: { intent: LiveIntent; isInTheWay: boolean },
): Promise<boolean> {
  const { state, expiresAtMs } = intent;
  if (state !== 'broadcast' || expiresAtMs === undefined) return false;
  if (isInTheWay) return true;
  if (engine.now() < expiresAtMs) return false;
  if (engine.monotonicNow() < engine.unblocking.untilMs) return true;
  const market = await engine.fees.market();
  const price = market.baseFeePerGas + market.tip;
  return TRANSFER_GAS * price <= leastGas(intent) * newestVersion(intent).maxFeePerGas;
}

/**
 * Offers again what has not been mined: the same bytes when their time has come, more for the same nonce when they wait too long, and a
 * self-transfer on the nonce of what the node refuses for good, or what has expired.
 */
export async function bumpFees(engine: Engine): Promise<void> {
  const waiting = unminedIntents(engine).filter(({ state }) => state !== 'displaced');
  const same: LiveIntent[] = [];
  const inTheWay = await listInTheWay(engine, waiting);
  for (const [place, intent] of waiting.entries()) {
    const isGivenUp = intent.failure !== undefined && (intent.state === 'signed' || intent.state === 'broadcast');
    if (isGivenUp) await replace(engine, { intent, kind: 'cancel' });
    else if (await isCancelDue(engine, { intent, isInTheWay: inTheWay.has(intent) }))
      await replace(engine, { intent, kind: 'cancel', failure: EXPIRED });
    else if (isBumpDue(engine, { intent, place })) {
      await replace(engine, { intent, kind: intent.state === 'cancelling' ? 'cancel' : 'call' });
    }
    if (intent.nextBroadcastAtMs <= engine.monotonicNow()) same.push(intent);
  }
  broadcastIntents(engine, same);
}
