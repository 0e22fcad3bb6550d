import type { Hex } from 'viem';
import type { ChainReader } from '../chain/chainReader.ts';
import type { ChainState } from '../chain/watchChain.ts';
import type { PendingQueue } from '../gateway/pendingQueue.ts';
import type { ChainSettings } from '../settings/chainSettings.ts';
import { type Claimable, type ClaimPorts, claimRequests } from './claimRequests.ts';
import { type Candidate, isDue } from './createCandidates.ts';
import type { ChainNotes } from './createChainNotes.ts';
import type { InFlight } from './createInFlight.ts';
import { type JudgePorts, judgeRequests } from './judgeRequests.ts';
import { pickAtRandom } from './pickAtRandom.ts';

/** Gas that a request is taken to need as long as it is not known, for what the ether suffices for. */
const TYPICAL_GAS = 400_000n;
/** A call that carries a short text, as large as most are. */
const TYPICAL_DATA: Hex = `0x${'5a'.repeat(600)}`;
/** Part of the room that requests may have that are only to be reported failed: anybody can post as many as they like. */
const HOPELESS_SHARE = 4;

/** What a round goes through. */
export interface RoundPorts {
  readonly queue: PendingQueue;
  readonly judging: JudgePorts;
  readonly claiming: ClaimPorts;
  readonly inFlight: Pick<InFlight, 'size' | 'has' | 'isBusy' | 'reservedGas' | 'run'>;
  readonly state: Pick<ChainState, 'balance' | 'head'>;
  readonly chain: Pick<ChainReader, 'extraCost'>;
  readonly settings: Pick<ChainSettings, 'maxInFlight' | 'maxFeePerGas'>;
  readonly notes: Pick<ChainNotes, 'balance'>;
  /** Takes on what was claimed, beside the rounds. */
  readonly advance: (requestIds: readonly string[]) => void;
  readonly now: () => number;
  readonly random: () => number;
}

/** How many more requests the relayer can submit: what its limit, and its ether, leave. */
async function countRoom({ chain, inFlight, settings, state, notes }: RoundPorts): Promise<number> {
  const [balance, { gasReserve }] = await Promise.all([state.balance(), state.head()]);
  notes.balance(balance);
  const room = settings.maxInFlight - inFlight.size;
  if (room <= 0) return 0;
  const [price = 0n] = [gasReserve, settings.maxFeePerGas].toSorted((a, b) => (a < b ? -1 : 1));
  const extra = await chain.extraCost(TYPICAL_DATA, TYPICAL_GAS);
  const left = balance - inFlight.reservedGas() * price;
  const each = (TYPICAL_GAS + extra.gas) * price + extra.wei;
  return left <= 0n ? 0 : Math.min(room, Number(left / (each || 1n)));
}

function isUnsearched({ verdict }: Candidate): boolean {
  return verdict?.kind === 'leave' && verdict.reason === 'nonceUnknown';
}

function isClaimable(candidate: Candidate): candidate is Claimable {
  return candidate.verdict?.kind === 'ready' || candidate.verdict?.kind === 'settle';
}

/** What goes right before it in its run; undefined where it stands by itself. */
function predecessor({ verdict }: Claimable): bigint | undefined {
  return verdict.kind === 'ready' ? verdict.follows : undefined;
}

/** One request a signer, for the next one is in order only after it; and what follows it in a run. */
function listClaimable({ inFlight, now }: RoundPorts, seen: readonly Candidate[]): Claimable[] {
  const signers = new Set<string>();
  const fresh = seen.filter(
    (candidate): candidate is Claimable =>
      isClaimable(candidate) && !isDue(candidate, now()) && !inFlight.has(candidate.record.requestId),
  );
  const heads = fresh.filter((candidate) => {
    if (predecessor(candidate) !== undefined) return false;
    const { signatures } = candidate.verdict;
    if (signatures.some(({ signer, nonce }) => signers.has(signer) || inFlight.isBusy(signer, nonce))) return false;
    for (const { signer } of signatures) signers.add(signer);
    return true;
  });
  return [...heads, ...fresh.filter((candidate) => predecessor(candidate) !== undefined)];
}

/** Adds to what was picked what follows it without a gap, as far as there is room. */
function addFollowers(picked: readonly Claimable[], claimable: readonly Claimable[], room: number): Claimable[] {
  const keyOf = (signer: string, nonce: bigint | undefined) => `${signer} ${nonce}`;
  const followers = new Map(
    claimable.flatMap((candidate) => {
      const after = predecessor(candidate);
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
export interface ClaimTurn {
  /** Ends with the claiming under way. */
  last: Promise<void>;
}

/** `claiming`: claims are under way, or there is more to look at; `waiting`: some could be claimed, or were not judged to the end; `idle`: there is nothing to do. */
export type RoundResult = 'claiming' | 'waiting' | 'idle';

/** Chooses at random among what pays; what is only to be reported failed gets a part of what room is left. */
function pick({ claiming, random }: RoundPorts, claimable: readonly Claimable[], room: number): Claimable[] {
  const { share } = claiming.claimRate;
  const hopeless = claimable.filter(({ verdict }) => verdict.kind === 'settle');
  const paying = claimable.filter((one) => one.verdict.kind === 'ready' && predecessor(one) === undefined);
  const chosen = pickAtRandom({ list: paying, count: Math.min(room, paying.length * share), random });
  const picked = addFollowers(chosen, claimable, room);
  const left = Math.min(room - picked.length, Math.ceil(room / HOPELESS_SHARE), hopeless.length * share);
  return left <= 0 ? picked : [...picked, ...pickAtRandom({ list: hopeless, count: left, random })];
}

/** Claims what was picked, beside the next look, and hands on what was won. */
function startClaiming(
  { claiming, inFlight, advance }: RoundPorts,
  turn: ClaimTurn,
  picked: readonly Claimable[],
): void {
  const claims = claimRequests(claiming, picked).then(advance);
  inFlight.run(claims);
  turn.last = claims.catch(() => undefined);
}

/**
 * Looks at the queue once: reads what is pending, judges what is new, and begins to claim some of what pays.
 *
 * @param ports - queue, judging, claiming, and what is under way
 * @param turn - of claiming, shared by all rounds
 * @throws GatewayError, ChainError where one of them does not answer
 */
export async function runRound(ports: RoundPorts, turn: ClaimTurn): Promise<RoundResult> {
  const { queue, judging, claiming } = ports;
  const wanted = await countRoom(ports);
  if (wanted === 0) return 'idle';
  const seen = await queue.look(wanted);
  await judgeRequests(judging, seen);
  await turn.last;
  const mine = listClaimable(ports, seen);
  // Where there are no rivals, nobody has claimed anything since.
  const claimable = claiming.claimRate.share === 1 ? mine : await queue.dropClaimed(mine);
  // The claims of the round before have taken their room meanwhile.
  const picked = pick(ports, claimable, await countRoom(ports));
  if (picked.length > 0) startClaiming(ports, turn, picked);
  if (picked.length > 0 || queue.hasMore()) return 'claiming';
  if (claimable.length > 0) claiming.claimRate.noteWaiting();
  return claimable.length > 0 || seen.some(isUnsearched) ? 'waiting' : 'idle';
}
