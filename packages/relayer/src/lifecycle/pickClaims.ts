import type { PendingQueue } from '../gateway/pendingQueue.ts';
import type { ChainSettings } from '../settings/chainSettings.ts';
import { type Claimable, type ClaimPorts, claimRequests, findPredecessor, isClaimable } from './claimRequests.ts';
import { type Candidate, isDue } from './createCandidates.ts';
import type { InFlight } from './createInFlight.ts';
import { pickAtRandom } from './pickAtRandom.ts';

/** Part of the room that requests may have that are only to be reported failed: anybody can post as many as they like. */
const HOPELESS_SHARE = 4;

/** Part of what may be in flight that is kept for signers that have paid before. */
const CUSTOMERS_SHARE = 4;

export interface PickPorts {
  readonly queue: Pick<PendingQueue, 'hasMore'>;
  readonly claiming: ClaimPorts;
  readonly inFlight: Pick<InFlight, 'has' | 'isBusy' | 'run' | 'countSigners'>;
  readonly settings: Pick<ChainSettings, 'maxInFlight'>;
  /** Whether a signer has paid for a transaction of this relayer before. */
  readonly isCustomer: (signer: string) => boolean;
  /** How many more requests the relayer can submit. */
  readonly countRoom: () => Promise<number>;
  readonly turn: ClaimTurn;
  readonly now: () => number;
  readonly random: () => number;
}

function isUnsearched({ verdict }: Candidate): boolean {
  return verdict?.kind === 'leave' && verdict.reason === 'nonceUnknown';
}

/** One request a signer, for the next one is in order only after it; and what follows it in a run. */
function listClaimable({ inFlight, claiming, now }: PickPorts, seen: readonly Candidate[]): Claimable[] {
  const signers = new Set<string>();
  // What was claimed, and has ended, while this was judged is not known any more: a second claim would look like a rival's.
  const isFree = ({ record: { requestId } }: Candidate) =>
    claiming.candidates.has(requestId) && !inFlight.has(requestId);
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

/** One claiming at a time; the next look and its checks go on beside it. */
interface ClaimTurn {
  /** Ends with the claiming under way. */
  last: Promise<void>;
}

/** `claiming`: claims are under way, or there is more to look at; `waiting`: some could be claimed, or were not judged to the end; `idle`: there is nothing to do. */
export type RoundResult = 'claiming' | 'waiting' | 'idle';

/** How much of the room strangers may have: whatever they post, it does not fill all of it. */
function countStrangersRoom({ inFlight, isCustomer, settings }: PickPorts): number {
  const kept = Math.floor(settings.maxInFlight / CUSTOMERS_SHARE);
  return settings.maxInFlight - kept - inFlight.countSigners((signer) => !isCustomer(signer));
}

/** Chooses at random among what pays; what is only to be reported failed gets a part of what room is left. */
function pick(ports: PickPorts, all: readonly Claimable[], room: number): Claimable[] {
  const { claiming, random, isCustomer } = ports;
  const { share } = claiming.claimRate;
  const strangers = new Set(all.filter(({ record }) => !isCustomer(record.signer)));
  const allowed = pickAtRandom({ list: [...strangers], count: Math.max(0, countStrangersRoom(ports)), random });
  const claimable = [...all.filter((one) => !strangers.has(one)), ...allowed];
  const hopeless = claimable.filter(({ verdict }) => verdict.kind === 'settle');
  const paying = claimable.filter((one) => one.verdict.kind === 'ready' && findPredecessor(one) === undefined);
  const chosen = pickAtRandom({ list: paying, count: Math.min(room, paying.length * share), random });
  const picked = addFollowers(chosen, claimable, room);
  const left = Math.min(room - picked.length, Math.ceil(room / HOPELESS_SHARE), hopeless.length * share);
  return left <= 0 ? picked : [...picked, ...pickAtRandom({ list: hopeless, count: left, random })];
}

/** Claims what was picked, beside the next look. */
function startClaiming({ claiming, inFlight, turn }: PickPorts, picked: readonly Claimable[]): void {
  const claims = claimRequests(claiming, picked);
  inFlight.run(claims);
  turn.last = claims.catch(() => undefined);
}

/**
 * Picks some of what was judged to pay, or to be hopeless, and begins to claim it.
 *
 * @param seen - judged a moment ago
 * @throws GatewayError, ChainError where one of them does not answer
 */
export async function pickClaims(ports: PickPorts, seen: readonly Candidate[]): Promise<RoundResult> {
  const { queue, claiming, turn, countRoom } = ports;
  await turn.last;
  const claimable = listClaimable(ports, seen);
  // The claims of the round before have taken their room meanwhile.
  const room = await countRoom();
  // A block that has come since has its signers judged anew.
  const picked = pick(ports, claimable.filter(isClaimable), room);
  if (picked.length > 0) startClaiming(ports, picked);
  if (picked.length > 0 || queue.hasMore()) return 'claiming';
  if (claimable.length > 0) claiming.claimRate.noteWaiting();
  return claimable.length > 0 || seen.some(isUnsearched) ? 'waiting' : 'idle';
}
