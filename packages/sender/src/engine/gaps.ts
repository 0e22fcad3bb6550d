import { mostAgreed, TRANSFER_GAS } from '@prism-gateway/rpc';
import { classifyRefusal } from '../chain/classifyRefusal.ts';
import { offerFees } from '../fees/feePolicy.ts';
import type { TxVersion } from '../intents/intent.ts';
import type { Engine } from './engine.ts';
import { signCancellation } from './signCancellation.ts';

/** A node that lags shows gaps that are none: so many looks in a row must show it. */
const MIN_GAP_ROUNDS = 3;
/** Filled at once; what is beyond waits its turn. */
const MAX_FILLED = 16;

/** Signs and stores what consumes a nonce. @returns undefined: gas costs more than the ceiling */
async function cancelNonce(engine: Engine, nonce: number): Promise<TxVersion | undefined> {
  const fees = offerFees(await engine.fees.market(), engine.settings.ceiling);
  if (fees === undefined) return undefined;
  const version = await signCancellation(engine, { intentId: undefined, nonce, fees, gasLimit: TRANSFER_GAS });
  engine.journal.commit({ intents: [], versions: [version] });
  return version;
}

async function fill(engine: Engine, nonce: number): Promise<void> {
  // Bytes that the journal has for the nonce were mined once and fell out of the chain; they do again what they did.
  const version = engine.journal.versionsOn(nonce).at(-1) ?? (await cancelNonce(engine, nonce));
  if (version === undefined) return;
  try {
    await engine.chain.broadcast(version);
  } catch (error) {
    if (classifyRefusal(error) === 'unknown') throw error;
  }
  engine.emit({ type: 'gapFilled', nonce, txHash: version.hash });
}

/**
 * Fills nonces below those in flight that are free on the chain and held by no intent on its way: after a deep reorganisation, or where a
 * foreign transaction on this key was lost. Nothing above them could ever be mined.
 *
 * @param engine - with its intents
 * @param count - the account nonce after the newest block, where it was looked at
 */
export async function repairGaps(engine: Engine, count: number | undefined): Promise<void> {
  if (count === undefined) return;
  const held = new Set([...engine.live.values()].flatMap(({ nonce }) => (nonce === undefined ? [] : [nonce])));
  const highest = Math.max(-1, ...held);
  const isGap = Array.from({ length: Math.max(0, highest - count) }, (_, place) => count + place).some(
    (n) => !held.has(n),
  );
  engine.gapRounds = isGap ? engine.gapRounds + 1 : 0;
  if (engine.gapRounds < MIN_GAP_ROUNDS) return;
  engine.gapRounds = 0;
  // What waits in the node is no gap, though it be foreign.
  const waiting = (await engine.chain.accountNonces('pending')).map((told) => told.count);
  let nonce = Math.max(count, mostAgreed(waiting));
  for (let filled = 0; nonce < highest && filled < MAX_FILLED; nonce++) {
    if (held.has(nonce)) continue;
    await fill(engine, nonce);
    filled++;
  }
}
