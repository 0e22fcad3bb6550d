import { mostAgreed, TRANSFER_GAS } from '@prism-gateway/node/rpc';
import { classifyRefusal } from '../chain/classifyRefusal.ts';
import { type Fees, type Market, offerFees } from '../fees/fees.ts';
import type { TxVersion } from '../intents/intent.ts';
import { nextFees } from './bumpFees.ts';
import type { Engine } from './engine.ts';
import { signCancellation, signVersion } from './signVersion.ts';

/** Looks in a row that must show a gap: a node that lags shows gaps that are none. */
const MIN_GAP_ROUNDS = 3;
/** Filled at once; what is beyond waits its turn. */
const MAX_FILLED = 16;

/** Signs and stores what consumes a nonce, for more than what was signed for it before. @param before - what was signed for it; undefined: nothing @returns undefined: gas costs more than the ceiling */
export async function freeNonce(
  engine: Engine,
  nonce: number,
  before: TxVersion | undefined,
): Promise<TxVersion | undefined> {
  const offer = { kind: 'cancel', maxFeePerGas: undefined, isUnderpriced: true } as const;
  const fees =
    before === undefined
      ? offerFees(await engine.fees.market(), engine.settings.ceiling)
      : await nextFees(engine, { ...offer, before });
  if (fees === undefined) return undefined;
  return store(
    engine,
    await signCancellation(engine, { intentId: before?.intentId, nonce, fees, gasLimit: TRANSFER_GAS }),
  );
}

function store({ journal }: Engine, version: TxVersion): TxVersion {
  journal.commit({ intents: [], versions: [version] });
  return version;
}

/**
 * Signs what fell out of the chain once more, for more: what it offered is less than a block takes now. What may not offer that much makes
 * way if work waits behind it.
 */
async function raise(engine: Engine, before: TxVersion): Promise<TxVersion | undefined> {
  const { intentId, nonce, kind, gasLimit } = before;
  const intent = intentId === undefined ? undefined : engine.journal.get(intentId);
  if (kind === 'cancel' || intent === undefined) return await freeNonce(engine, nonce, before);
  const { maxFeePerGas, call } = intent;
  const fees: Fees | undefined = await nextFees(engine, { before, kind, maxFeePerGas, isUnderpriced: true });
  if (fees !== undefined)
    return store(engine, await signVersion(engine, { intentId, nonce, kind, call, gasLimit, fees }));
  return engine.monotonicNow() < engine.unblocking.untilMs ? await freeNonce(engine, nonce, before) : undefined;
}

/** Offers a version. @returns whether the node wants more for it */
export async function offer(engine: Engine, version: TxVersion): Promise<boolean> {
  try {
    await engine.chain.broadcast(version);
  } catch (error) {
    const refusal = classifyRefusal(error);
    if (refusal === 'unknown') throw error;
    if (refusal === 'underpriced') return true;
  }
  engine.emit({ type: 'gapFilled', nonce: version.nonce, txHash: version.hash });
  return false;
}

/** Bytes that the journal has for a nonce were mined once and fell out of the chain; they do again what they did. */
async function fill(engine: Engine, nonce: number, { baseFeePerGas }: Market): Promise<void> {
  const last = engine.journal.versionsOn(nonce).at(-1);
  const isAllowed = last !== undefined && (await engine.mayBroadcast(last));
  if (isAllowed && last.maxFeePerGas >= baseFeePerGas && !(await offer(engine, last))) return;
  const next = isAllowed ? await raise(engine, last) : await freeNonce(engine, nonce, last);
  if (next !== undefined && (await engine.mayBroadcast(next))) await offer(engine, next);
}

/**
 * Fills account nonces below those in flight that are free on the chain and held by no intent on its way: after a deep reorganisation, or if a
 * foreign transaction on this key was lost. Nothing above them could ever be mined.
 *
 * @param count - the account nonce after the newest block, if it was looked at
 */
export async function fillGaps(engine: Engine, count: number | undefined): Promise<void> {
  if (count === undefined) return;
  const held = new Set([...engine.live.values()].flatMap(({ nonce }) => (nonce === undefined ? [] : [nonce])));
  const highest = Math.max(-1, ...held);
  const gaps = Array.from({ length: Math.max(0, highest - count) }, (_, place) => count + place).filter(
    (n) => !held.has(n),
  );
  const [first] = gaps;
  engine.gap = first === undefined ? undefined : { version: engine.journal.versionsOn(first).at(-1) };
  engine.gapRounds = first === undefined ? 0 : engine.gapRounds + 1;
  if (engine.gapRounds < MIN_GAP_ROUNDS) return;
  engine.gapRounds = 0;
  const waiting = mostAgreed((await engine.chain.accountNonces('pending')).map((answer) => answer.count));
  const market = await engine.fees.market();
  // A transaction that waits in the node is no gap, even if it is foreign; but one of ours that offers too little waits in vain.
  const isWaiting = (nonce: number) => {
    const last = nonce < waiting ? engine.journal.versionsOn(nonce).at(-1) : undefined;
    return nonce < waiting && (last === undefined || last.maxFeePerGas >= market.baseFeePerGas);
  };
  const faults: unknown[] = [];
  // Each by itself: one that the caller keeps back may have to wait until a later one is freed.
  for (const nonce of gaps.filter((each) => !isWaiting(each)).slice(0, MAX_FILLED))
    await fill(engine, nonce, market).catch((error: unknown) => void faults.push(error));
  if (faults.length > 0) throw faults[0];
}
