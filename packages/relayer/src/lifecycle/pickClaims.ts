import type { Hex } from 'viem';
import { lower } from '../checks/fee.ts';
import { type Candidate, type Claimable, findPredecessor, isClaimable, isDue, isUnsearched } from './candidates.ts';
import { pickAtRandom } from './claimRate.ts';
import { claimRequests } from './claimRequests.ts';
import type { RelayerContext } from './context.ts';

/** Part of what may be in flight that may be only to be reported failed: anybody can post as many of those as they like. */
const HOPELESS_SHARE = 4;

/** Part of what may be in flight that is kept for signers that have paid before. */
const KNOWN_PAYERS_SHARE = 4;

/** Gas that a request is taken to need as long as it is not known, for what the ether suffices for. */
const TYPICAL_GAS = 400_000n;
/** A call that carries a short text, as large as most are. */
const TYPICAL_DATA: Hex = `0x${'5a'.repeat(600)}`;

/** How many more requests the relayer can claim: a claim made while its key is held, or nothing can be written down, would keep one from others. */
function countFree({ chain, inFlight, journal, policy }: RelayerContext): number {
  return chain.sender.isHeld() || journal.isFailing() ? 0 : Math.max(0, policy.maxInFlight - inFlight.size);
}

/** How many more requests the relayer can submit: what its limit, and its ether, leave. */
export async function countRoom(context: RelayerContext): Promise<number> {
  const { chain, inFlight, policy, events } = context;
  const { reader, state } = chain;
  const [balance, { gasReserve }] = await Promise.all([state.balance(), state.head()]);
  events.emit({ type: 'balance-read', wei: balance });
  const room = countFree(context);
  if (room === 0) return 0;
  const price = lower(gasReserve, policy.maxFeePerGas);
  const extra = await reader.extraCost(TYPICAL_DATA, TYPICAL_GAS);
  const left = balance - inFlight.reservedGas() * price;
  const each = (TYPICAL_GAS + extra.gas) * price + extra.wei;
  return left <= 0n ? 0 : Math.min(room, Number(left / (each || 1n)));
}

/** One request a signer, for the next one is in order only after it; and what follows it in a run. */
function listClaimable({ gateway, inFlight, now }: RelayerContext, seen: readonly Candidate[]): Claimable[] {
  const signers = new Set<string>();
  // A request that was claimed, and has ended, while this was evaluated is not known any more: a second claim would look like a rival's.
  const isFree = ({ record: { requestId } }: Candidate) =>
    gateway.candidates.has(requestId) && !inFlight.has(requestId);
  const fresh = seen.filter(
    (candidate): candidate is Claimable => isClaimable(candidate) && !isDue(candidate, now()) && isFree(candidate),
  );
  const heads = fresh.filter((candidate) => {
    if (findPredecessor(candidate) !== undefined) return false;
    const { signatures } = candidate.verdict;
    if (signatures.some(({ signer, nonce }) => signers.has(signer) || inFlight.isBusy(signer, nonce))) return false;
    for (const { signer } of signatures) signers.add(signer);
    return true;
  });
  return [...heads, ...fresh.filter((candidate) => findPredecessor(candidate) !== undefined)];
}

/** Adds to what was picked what follows it without a gap, as far as there is room. */
function addFollowers(picked: readonly Claimable[], claimable: readonly Claimable[], room: number): Claimable[] {
  const keyOf = (signer: string, nonce: bigint | undefined) => `${signer} ${nonce}`;
  const followers = new Map(
    claimable.flatMap((candidate) => {
      const after = findPredecessor(candidate);
      const [signature] = candidate.verdict.signatures;
      return after === undefined || signature === undefined ? [] : [[keyOf(signature.signer, after), candidate]];
    }),
  );
  const all = [...picked];
  for (const one of all) {
    const [signature] = one.verdict.signatures;
    if (signature === undefined || one.verdict.kind !== 'ready' || all.length >= room) continue;
    const next = followers.get(keyOf(signature.signer, signature.nonce));
    if (next !== undefined) all.push(next);
  }
  return all;
}

/** `claiming`: claims are under way, or there is more to look at; `waiting`: some could be claimed, or were not evaluated to the end; `idle`: there is nothing to do. */
export type RoundResult = 'claiming' | 'waiting' | 'idle';

/** How much of the room untrusted signers may have: whatever they post, it does not fill all of it. */
function countUntrustedRoom({ inFlight, policy }: RelayerContext): number {
  const kept = Math.floor(policy.maxInFlight / KNOWN_PAYERS_SHARE);
  return policy.maxInFlight - kept - inFlight.countSigners((signer) => !inFlight.budgets.isKnownPayer(signer));
}

/** How many claims of silent relayers may be taken over now: none while nothing can be sent, and never the room of known payers. */
export async function countTakeOverRoom(context: RelayerContext): Promise<number> {
  const { sender, state } = context.chain;
  if (sender.isStuck(await state.head())) return 0;
  return Math.min(await countRoom(context), Math.max(0, countUntrustedRoom(context)));
}

/**
 * Chooses at random among what pays; what is only to be reported gets a part of what is left, for it needs no transaction.
 *
 * @param room - for what is to be submitted
 */
function pick(context: RelayerContext, all: readonly Claimable[], room: number): Claimable[] {
  const { inFlight, policy, random } = context;
  const { share } = inFlight.claimRate;
  const untrusted = new Set(all.filter(({ record }) => !inFlight.budgets.isKnownPayer(record.signer)));
  const allowed = pickAtRandom({ list: [...untrusted], count: Math.max(0, countUntrustedRoom(context)), random });
  const claimable = [...all.filter((one) => !untrusted.has(one)), ...allowed];
  const hopeless = claimable.filter(({ verdict }) => verdict.kind === 'hopeless');
  // What its budget does not let in now waits until what is at stake has been settled, and is no work until then.
  const paying = claimable.filter((one) => {
    const { record, verdict } = one;
    if (verdict.kind !== 'ready' || findPredecessor(one) !== undefined) return false;
    return inFlight.budgets.canHold({ requestId: record.requestId, signatures: verdict.signatures }, verdict.stake);
  });
  const chosen = pickAtRandom({ list: paying, count: Math.min(room, paying.length * share), random });
  const picked = addFollowers(chosen, claimable, room);
  // A wallet that changes its mind can have them wait for a whole lease.
  const allowedHopeless = Math.ceil(policy.maxInFlight / HOPELESS_SHARE) - inFlight.countGivenUp();
  const left = Math.min(countFree(context) - picked.length, allowedHopeless, hopeless.length * share);
  return left <= 0 ? picked : [...picked, ...pickAtRandom({ list: hopeless, count: left, random })];
}

/** Claims what was picked, beside the next look. */
function startClaiming(context: RelayerContext, picked: readonly Claimable[]): void {
  const { inFlight } = context;
  const claims = claimRequests(context, picked);
  inFlight.run(claims);
  inFlight.claiming.last = claims.catch(() => undefined);
}

/** How long all may wait for gas to fall again before what is stuck makes way for what pays, in milliseconds: ten blocks of mainnet. */
const STUCK_TIMEOUT_MS = 120_000;
/** How long after something has made way the next one in line does at once, in milliseconds: it has waited as long. */
const MAKING_WAY_MS = 60_000;

/**
 * Whether this relayer's next transaction waits for cheaper gas than its fee may offer, and all that is sent now with it: then rivals are
 * to have what pays. If they do not take it either, as much of what is stuck makes way at once as there is work that pays.
 *
 * @param claimable - what pays, or is hopeless
 */
async function isLineStuck(
  { chain, inFlight: { line }, events, monotonicNow }: RelayerContext,
  claimable: readonly Claimable[],
): Promise<boolean> {
  const market = await chain.state.head();
  const isStuck = chain.sender.isStuck(market);
  if (isStuck !== (line.stuckSinceMs !== undefined)) events.emit({ type: isStuck ? 'line-stuck' : 'line-moves' });
  line.stuckSinceMs = isStuck ? (line.stuckSinceMs ?? monotonicNow()) : undefined;
  if (line.stuckSinceMs === undefined) return false;
  const nowMs = monotonicNow();
  if (nowMs - line.stuckSinceMs >= STUCK_TIMEOUT_MS || nowMs - line.unblockedAtMs < MAKING_WAY_MS) {
    const waiting = claimable.filter(({ verdict }) => verdict.kind === 'ready').length;
    if (chain.sender.unblock({ waiting, market })) line.unblockedAtMs = nowMs;
  }
  return true;
}

/**
 * Picks some of what was evaluated to pay, or to be hopeless, and begins to claim it.
 *
 * @param seen - evaluated a moment ago
 * @throws GatewayError, ChainError if one of them does not answer
 */
export async function pickClaims(context: RelayerContext, seen: readonly Candidate[]): Promise<RoundResult> {
  const { gateway, inFlight } = context;
  await inFlight.claiming.last;
  const claimable = listClaimable(context, seen);
  // The claims of the round before have taken their room meanwhile.
  const room = (await isLineStuck(context, claimable)) ? 0 : await countRoom(context);
  // A block that has come since has its signers evaluated anew.
  const picked = pick(context, claimable.filter(isClaimable), room);
  if (picked.length > 0) startClaiming(context, picked);
  if (picked.length > 0 || gateway.queue.hasMore()) return 'claiming';
  if (claimable.length > 0) inFlight.claimRate.recordWaiting();
  return claimable.length > 0 || seen.some(isUnsearched) ? 'waiting' : 'idle';
}
