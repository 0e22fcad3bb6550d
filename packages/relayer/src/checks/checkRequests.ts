import { encodeForwarderCall } from '@prism-gateway/contracts';
import type { ActionParams } from '@prism-gateway/protocol';
import { createMultiUserBatchParams } from '@prism-gateway/protocol/typed-data';
import type { Hex } from 'viem';
import { ChainError } from '../chain/chainError.ts';
import { nextBlock } from '../chain/chainReader.ts';
import type { RelayerContext } from '../lifecycle/context.ts';
import type { RelayedRecord, SignatureRef } from '../lifecycle/states.ts';
import { checkRequest, checkUsed } from './checkRequest.ts';
import type { NonceSearch } from './createNonceSearch.ts';
import { coversGas, feeInWei, mostGas, readBatchResults } from './fee.ts';
import { listSignedParts } from './findNonce.ts';
import type { Verdict } from './leaveReasons.ts';
import { type ChainFacts, readFacts, screenRequests } from './screenRequests.ts';

/** A request to check, and what is known of the nonces it was signed for: they are looked for further. */
export interface CheckCandidate {
  readonly record: RelayedRecord;
  readonly search: NonceSearch;
  /** Whether the chain is asked if its nonce is used even if no transaction can carry it out now, by its time or fee. */
  readonly isTouched?: boolean;
}

/** The results of checks. */
interface Checked {
  /** By request id. */
  readonly verdicts: ReadonlyMap<string, Verdict>;
  /** Why a request could not be evaluated, by its id: a ChainError if the node did not say what was asked. */
  readonly failures: ReadonlyMap<string, Error>;
}

/**
 * Whoever posts a bad signature has it recovered with many nonces. Every request has the few tried first that honest ones are signed for;
 * of what is left, large requests come last, so that small ones wait for none of it.
 */
async function searchNonces(
  { chain }: RelayerContext,
  search: {
    readonly candidates: readonly CheckCandidate[];
    readonly nonces: ReadonlyMap<Hex, bigint>;
    readonly maxTries: number;
  },
): Promise<void> {
  const { candidates, nonces, maxTries } = search;
  for (const candidate of candidates) await candidate.search.tryNext(chain, nonces);
  const size = ({ record }: CheckCandidate) => listSignedParts(record).length;
  const bySize = candidates.toSorted((a, b) => size(a) - size(b));
  for (const candidate of bySize) if (size(candidate) === 1) await candidate.search.tryFew(chain, nonces);
  let left = maxTries;
  for (const candidate of bySize) {
    if (left <= 0) return;
    left -= await candidate.search.lookAround(chain, { nonces, maxTries: left });
  }
}

/**
 * Checks many requests at once, with few calls to the node: none for what cannot be carried out anyway, each signer's nonce once, a
 * simulation for each that is in order.
 *
 * @param check.candidates - requests to check
 * @param check.maxTries - how many nonces may be tried for those that are not in their turn; default any number. What is then not
 * found yet is left as `nonceUnknown`, and the next check goes on with it
 * @returns a verdict, or why there is none, for each
 * @throws ChainError if the node answers nothing at all
 */
export async function checkRequests(
  context: RelayerContext,
  check: { readonly candidates: readonly CheckCandidate[]; readonly maxTries?: number },
): Promise<Checked> {
  const failures = new Map<string, Error>();
  const { candidates } = check;
  const readNonces = (asked: readonly CheckCandidate[]): Promise<ReadonlyMap<Hex, bigint>> =>
    asked.length === 0
      ? Promise.resolve(new Map())
      : context.chain.reader.nonces(asked.flatMap(({ record }) => listSignedParts(record).map(({ signer }) => signer)));
  // Whatever the screening says of them, these are asked about: in one request with the facts.
  const [screened, early] = await Promise.all([
    screenRequests(
      context,
      candidates.map(({ record }) => record),
    ),
    readNonces(candidates.filter(({ isTouched }) => isTouched)),
  ]);
  const verdicts = new Map(screened);
  const isWaiting = ({ record }: CheckCandidate) => {
    const verdict = screened.get(record.requestId);
    return verdict?.kind === 'leave' && (verdict.reason === 'fee' || verdict.reason === 'early');
  };
  const open = candidates.filter(
    (one) => !verdicts.has(one.record.requestId) || (one.isTouched === true && isWaiting(one)),
  );
  if (open.length === 0) return { verdicts, failures };
  const [facts, late] = await Promise.all([
    readFacts(context),
    readNonces(open.filter(({ isTouched }) => isTouched !== true)),
  ]);
  const nonces = new Map([...early, ...late]);
  const known: CheckCandidate[] = [];
  for (const candidate of open) {
    const unread = listSignedParts(candidate.record).find(({ signer }) => !nonces.has(signer));
    if (unread === undefined) known.push(candidate);
    else failures.set(candidate.record.requestId, unreadNonce(unread.signer));
  }
  await searchNonces(context, {
    candidates: known,
    nonces,
    maxTries: check.maxTries ?? Number.POSITIVE_INFINITY,
  });
  async function evaluate({ record, search }: CheckCandidate): Promise<void> {
    const input = { record, signatures: search.signatures(), nonces, ...facts };
    try {
      const waiting = screened.get(record.requestId);
      if (!search.isDone(nonces)) verdicts.set(record.requestId, UNSEARCHED);
      else if (waiting !== undefined) verdicts.set(record.requestId, checkUsed(input) ?? waiting);
      else verdicts.set(record.requestId, await checkRequest(context, input));
    } catch (error) {
      // Whatever one request does to its check, the others are evaluated.
      failures.set(record.requestId, error instanceof Error ? error : new Error(String(error)));
    }
  }
  await Promise.all(known.map(evaluate));
  // A request that cannot be asked about now waits for its turn, as it would without a run.
  await extendRuns(context, { candidates: known, verdicts, facts }).catch((error: unknown) => {
    if (!(error instanceof ChainError)) throw error;
  });
  return { verdicts, failures };
}

const UNSEARCHED: Verdict = { kind: 'leave', reason: 'nonceUnknown' };

function unreadNonce(signer: Hex): ChainError {
  return new ChainError('RPC_UNAVAILABLE', `The node did not say the forwarder nonce of ${signer}.`);
}

/** Most writes of a run: what one batch holds by default. */
const MAX_RUN = 50;
/** Gas of a write, and of each byte of its payload: they distinguish the gas of one from that of another. */
const WRITE_GAS = 60_000n;
const BYTE_GAS = 700n;

type Ready = Extract<Verdict, { readonly kind: 'ready' }>;

/** A request that was checked. */
interface RunCandidate {
  readonly record: RelayedRecord;
  readonly search: Pick<NonceSearch, 'signatures'>;
}

/** A write with the forwarder nonce that it was signed for. */
interface RunMember {
  readonly record: RelayedRecord;
  readonly signature: SignatureRef;
  readonly nonce: bigint;
}

function readMember({ record, search }: RunCandidate): RunMember | undefined {
  if (record.action !== 'WRITE_DATA_FOR') return undefined;
  const [signature] = search.signatures();
  return signature?.nonce === undefined ? undefined : { record, signature, nonce: signature.nonce };
}

/** A write that is in its turn, and those of the same signer that wait for it, without a gap. */
function listRuns(candidates: readonly RunCandidate[], verdicts: ReadonlyMap<string, Verdict>) {
  const members = candidates.map(readMember).filter((member) => member !== undefined);
  const bySigner = Map.groupBy(members, ({ signature }) => signature.signer);
  return [...bySigner.values()].flatMap((own) => {
    const verdictOf = ({ record }: RunMember) => verdicts.get(record.requestId);
    const head = own.find((member) => verdictOf(member)?.kind === 'ready');
    if (head === undefined) return [];
    const waiting = own.filter((member) => {
      const verdict = verdictOf(member);
      return verdict?.kind === 'leave' && verdict.reason === 'nonceAhead';
    });
    const run = [head];
    for (let next: RunMember | undefined = head; next !== undefined && run.length < MAX_RUN; ) {
      const nonce: bigint = next.nonce + 1n;
      next = waiting.find((member) => member.nonce === nonce);
      if (next !== undefined) run.push(next);
    }
    // The head was found ready just now.
    return run.length > 1 ? [{ head: verdictOf(head) as Ready, run }] : [];
  });
}

// Only writes are members.
const paramsOf = ({ record }: RunMember) => record.params as ActionParams<'WRITE_DATA_FOR'>;

/** Simulates a run as the one transaction that it would be. @returns how many of it, from the first on, would be written */
async function countWritten({ chain }: RelayerContext, run: readonly RunMember[], facts: ChainFacts): Promise<number> {
  const timestamp = String(facts.seconds);
  const params = createMultiUserBatchParams({ signer: chain.relayer, timestamp, requests: run.map(paramsOf) });
  const { data } = encodeForwarderCall({ action: 'BATCH_MULTI_USER_WRITE_DATA', params });
  const simulated = await chain.reader.simulate(data, nextBlock(facts.head, facts.seconds));
  if ('reverted' in simulated || simulated.gas > mostGas(facts.head)) return 0;
  const refused = readBatchResults(simulated.returned, run.length).findIndex(({ success }) => !success);
  return refused < 0 ? run.length : refused;
}

const weigh = (member: RunMember) => WRITE_GAS + (BYTE_GAS * BigInt(paramsOf(member).payload.length - 2)) / 2n;

/** Each write has to pay for a transaction of its own, as one that is gathered with other users' does. */
async function evaluateFollower(
  context: RelayerContext,
  member: RunMember,
  { head, first, facts }: { readonly head: Ready; readonly first: RunMember; readonly facts: ChainFacts },
): Promise<Verdict | undefined> {
  const { chain, policy, inFlight } = context;
  const { record, signature, nonce } = member;
  const signatures = [signature];
  if (inFlight.budgets.findExceeded({ requestId: record.requestId, signatures }, 0n) !== undefined) return undefined;
  const own = (head.gas * weigh(member)) / weigh(first);
  const extra = await chain.reader.extraCost(encodeForwarderCall(record).data as Hex, own);
  const gas = own + extra.gas;
  const credits = BigInt(record.params.relayerFee);
  const { shareBps } = facts.forwarder;
  const feeWei = feeInWei({ credits, shareBps, creditsPerEth: policy.creditsPerEth });
  const { gasPrice } = facts.head;
  const marginPercent = policy.feeMarginPercent;
  if (!coversGas({ feeWei, gas, gasPrice, extraWei: extra.wei, marginPercent })) return undefined;
  const stake = { wei: head.stake.wei, gift: 0n };
  return { kind: 'ready', signatures, gas, feeWei: feeWei - extra.wei, stake, follows: nonce - 1n };
}

/**
 * Extends what is in its turn by what waits for it: writes of one signer with consecutive forwarder nonces, which can be carried out in
 * one transaction. They are simulated together; those that would be written, and pay for themselves, are ready as well.
 *
 * @param checked - the candidates, and their verdicts so far, which are changed
 * @throws ChainError if the node does not answer
 * @see docs/specification.md RELAY-21
 */
async function extendRuns(
  context: RelayerContext,
  checked: {
    readonly candidates: readonly RunCandidate[];
    readonly verdicts: Map<string, Verdict>;
    readonly facts: ChainFacts;
  },
): Promise<void> {
  const { candidates, verdicts, facts } = checked;
  // Side by side: nobody's run waits for another signer's.
  const extended = listRuns(candidates, verdicts).map(async ({ head, run }) => {
    const written = run.slice(0, await countWritten(context, run, facts));
    const [first, ...followers] = written;
    for (const member of followers) {
      // A run has a first one.
      const verdict = await evaluateFollower(context, member, { head, first: first as RunMember, facts });
      if (verdict === undefined) break;
      verdicts.set(member.record.requestId, verdict);
    }
  });
  await Promise.all(extended);
}

/**
 * Which requests bear a signature that is proven: of the named signer's own key, with the forwarder nonce that is next. That costs one
 * recovery each, and one question for each signer. Contract wallets' cannot be proven so, nor is a batch of many users' tried.
 *
 * @param candidates - requests; what is found is remembered in their searches
 * @throws ChainError if the node answers nothing at all
 */
export async function proveSignatures(
  { chain }: RelayerContext,
  candidates: readonly CheckCandidate[],
): Promise<ReadonlyMap<string, boolean>> {
  const proven = new Map<string, boolean>();
  const single: { readonly candidate: CheckCandidate; readonly signer: Hex }[] = [];
  for (const candidate of candidates) {
    const [part, ...others] = listSignedParts(candidate.record);
    if (part === undefined || others.length > 0) proven.set(candidate.record.requestId, false);
    else single.push({ candidate, signer: part.signer });
  }
  if (single.length === 0) return proven;
  const nonces = await chain.reader.nonces(single.map(({ signer }) => signer));
  for (const { candidate, signer } of single) {
    if (!nonces.has(signer)) continue;
    await candidate.search.tryNext(chain, nonces);
    const [found] = candidate.search.signatures();
    proven.set(candidate.record.requestId, found?.nonce !== undefined);
  }
  return proven;
}
