import { setTimeout as pause } from 'node:timers/promises';
import { forwarderAbi } from '@prism-gateway/contracts';
import { encodeFunctionData } from 'viem/utils';
import { ChainError } from '../chain/chainError.ts';
import { checkRequests, proveSignatures } from '../checks/checkRequests.ts';
import type { Verdict } from '../checks/leaveReasons.ts';
import { screenRequests } from '../checks/screenRequests.ts';
import { type Candidate, isDue, isUnsearched } from './candidates.ts';
import type { RelayerContext } from './context.ts';
import { createGapQuestion, giveUpBlocked } from './giveUpBlocked.ts';
import type { InFlight } from './inFlight.ts';

/** Most requests that a round evaluates by what they say themselves: that costs no call, and no recovery. */
const MAX_SCREENED = 500;
/** Most nonces that are tried at a time for signatures that are far from their turn: a tenth of a second of work. */
const MAX_TRIES = 150;
/** Most of them for those who have paid before, the others of whom wait for it: one signature that nobody has made. */
const FEW_TRIES = 64;
/** Most signatures that are proven at a time: a fifth of a second of work. */
const MAX_PROOFS = 300;
/** Most requests that are evaluated together: what a node answers in a moment. */
const MAX_PROVEN = 100;
/** Fewer of those whose signer is not proven: who comes in the meantime waits for no more of them. */
const MAX_UNPROVEN = 25;

/** A call that every Forwarder carries out for everybody. */
const PROBE = encodeFunctionData({ abi: forwarderAbi, functionName: 'domainSeparator' });

/** Most requests of those who pay that are checked together: what a node answers in a moment. */
const MAX_KNOWN_PAYERS = 200;
/** Most of them that were evaluated before. */
const MAX_RECHECKS = 100;

/** The requests to evaluate now. */
interface Due {
  /** Of signers that have paid before, as much as can be evaluated in a moment. */
  readonly knownPayers: readonly Candidate[];
  /** All of the others. */
  readonly untrusted: readonly Candidate[];
}

/** The last one, the first, the last but one, the second, …: what has come last and what waits for longest get on alike. */
function fromBothEnds<T>(list: readonly T[]): T[] {
  const middle = Math.floor(list.length / 2);
  const [oldest, newest] = [list.slice(0, middle), list.slice(middle).toReversed()];
  return newest.flatMap((one, index) => [one, ...oldest.slice(index, index + 1)]);
}

/**
 * Takes one of each signer in turn, the newest first: what is posted in one name, by whomever, holds no other one up. However many names there
 * are, half of the turns are those of the names that have come last.
 */
function takeRoundRobin(candidates: readonly Candidate[], count: number): Candidate[] {
  const bySigner = Map.groupBy(candidates, ({ record }) => record.signer.toLowerCase());
  const taken: Candidate[] = [];
  for (let stacks = fromBothEnds([...bySigner.values()]); stacks.length > 0 && taken.length < count; ) {
    for (const stack of stacks) taken.push(...stack.splice(-1));
    stacks = stacks.filter((stack) => stack.length > 0);
  }
  return taken.slice(0, count);
}

/**
 * Lists those that were never evaluated first: otherwise requests that were left, and are looked at again, would keep the rest from ever
 * being looked at.
 */
function listFirst(due: readonly Candidate[], count: number): Candidate[] {
  const fresh = takeRoundRobin(
    due.filter(({ verdict }) => verdict === undefined),
    count,
  );
  const again = due.filter(({ verdict }) => verdict !== undefined);
  return [...fresh, ...takeRoundRobin(again, Math.min(MAX_RECHECKS, count - fresh.length))];
}

/** Whether a candidate's signer has paid before. */
type PayerTest = (candidate: Candidate) => boolean;

/** Makes the test for one round: each signer is looked up once. */
function createPayerTest({ inFlight }: RelayerContext): PayerTest {
  const known = new Map<string, boolean>();
  return ({ record: { signer } }) => {
    const isPaying = known.get(signer) ?? inFlight.budgets.isKnownPayer(signer);
    known.set(signer, isPaying);
    return isPaying;
  };
}

/**
 * Lists what is to be evaluated now: those of signers that have paid before apart from the others', so that they can be evaluated without
 * waiting for them.
 */
function listDue({ now }: RelayerContext, seen: readonly Candidate[], isPayer: PayerTest): Due {
  const nowMs = now();
  const due = seen.filter((candidate) => isDue(candidate, nowMs));
  const untrusted = due.filter((candidate) => !isPayer(candidate));
  return { knownPayers: listFirst(due.filter(isPayer), MAX_KNOWN_PAYERS), untrusted };
}

/** The result for a candidate. */
interface Evaluated {
  readonly candidate: Candidate;
  readonly verdict: Verdict;
}

/**
 * `seen` becomes `checked` or `left`, with the verdict in memory and journal, or in neither. What has been in the way for too long is given
 * up.
 */
async function recordVerdicts(context: RelayerContext, all: readonly Evaluated[]): Promise<void> {
  const { gateway, journal, events, now } = context;
  const { candidates } = gateway;
  const isGapAwaited = createGapQuestion(context);
  const evaluated: Evaluated[] = [];
  for (const { candidate, verdict } of all) {
    const given = await giveUpBlocked(context, { wait: candidate.wait, verdict }, isGapAwaited);
    evaluated.push({ candidate, verdict: given });
  }
  const changed = evaluated.flatMap(({ candidate, verdict }) => {
    return candidates.recordVerdict(candidate, verdict, now()) ?? [];
  });
  try {
    journal.recordVerdicts(changed);
  } catch (error) {
    candidates.evaluateAnew(evaluated.map(({ candidate }) => candidate));
    throw error;
  }
  for (const { candidate, verdict } of evaluated) {
    const { record, wait } = candidate;
    events.emit({ type: 'request-evaluated', signer: record.signer, verdict, sinceMs: wait?.sinceMs });
  }
  events.emit({ type: 'requests-counted', counts: candidates.countAll() });
}

/** One request that cannot be evaluated holds no other one up, and is looked at again. */
function leaveUnevaluated({ events }: RelayerContext, { record }: Candidate, { message }: Error): Verdict {
  events.emit({ type: 'evaluation-failed', where: 'evaluation', requestId: record.requestId, reason: message });
  return { kind: 'leave', reason: 'unevaluated', errorMessage: message };
}

const DUPLICATE: Verdict = { kind: 'leave', reason: 'duplicate' };

/** @throws ChainError if what all checks go by cannot be read, as the Forwarder's policy: then nothing can be evaluated */
async function reportFaults<T>({ events }: RelayerContext, asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ChainError) events.emit({ type: 'part-failed', part: 'evaluation', reason: error.message });
    throw error;
  }
}

/**
 * Whether requests can be evaluated. Anybody may post a request that a node does not simulate: only if it does not simulate a harmless
 * call either, requests cannot be evaluated.
 */
async function reportEvaluation({ chain, events }: RelayerContext, failures: number): Promise<void> {
  try {
    if (failures > 0) await chain.reader.simulate(PROBE, { seconds: await chain.state.seconds() });
    events.emit({ type: 'part-well', part: 'evaluation' });
  } catch (error) {
    if (!(error instanceof ChainError)) throw error;
    events.emit({ type: 'part-failed', part: 'evaluation', reason: error.message });
  }
}

/** Leaves strangers' invalid new requests at once, by their time or fee, without queueing them. */
async function screenNew(
  context: RelayerContext,
  seen: readonly Candidate[],
  { duplicates, isPayer }: { readonly duplicates: ReadonlySet<Candidate>; readonly isPayer: PayerTest },
) {
  const { untrusted } = context.inFlight;
  const isBeside = ({ record }: Candidate) => untrusted.requestIds.has(record.requestId);
  const isNew = (candidate: Candidate) => !candidate.verdict && !candidate.isTouched && !isBeside(candidate);
  const fresh = seen.filter((candidate) => isNew(candidate) && !isPayer(candidate));
  // The newest first, so that old spam cannot delay them.
  const screened = fresh.slice(-MAX_SCREENED);
  if (screened.length === 0) return;
  const records = screened.map(({ record }) => record);
  const verdicts = await reportFaults(context, screenRequests(context, records));
  const evaluated = screened.flatMap((candidate): Evaluated[] => {
    const verdict = duplicates.has(candidate) ? DUPLICATE : verdicts.get(candidate.record.requestId);
    return verdict === undefined ? [] : [{ candidate, verdict }];
  });
  await recordVerdicts(context, evaluated);
}

/** Evaluates some by asking the chain. */
async function evaluateDue(
  context: RelayerContext,
  due: readonly Candidate[],
  { duplicates, maxTries }: { readonly duplicates: ReadonlySet<Candidate>; readonly maxTries: number },
): Promise<void> {
  if (due.length === 0) return;
  const candidates = due
    .filter((candidate) => !duplicates.has(candidate))
    .map((candidate) => ({ ...candidate, isTouched: candidate.isTouched || isUnsearched(candidate) }));
  const touched = due.filter(({ isTouched }) => isTouched);
  // Who is touched from here on is looked at once more.
  for (const candidate of touched) candidate.isTouched = false;
  try {
    const { verdicts, failures } = await reportFaults(context, checkRequests(context, { candidates, maxTries }));
    await reportEvaluation(context, failures.size);
    const evaluated = due.flatMap((candidate): Evaluated[] => {
      const { requestId } = candidate.record;
      const failure = failures.get(requestId);
      if (duplicates.has(candidate)) return [{ candidate, verdict: DUPLICATE }];
      if (failure !== undefined) return [{ candidate, verdict: leaveUnevaluated(context, candidate, failure) }];
      const verdict = verdicts.get(requestId);
      return verdict === undefined ? [] : [{ candidate, verdict }];
    });
    await recordVerdicts(context, evaluated);
  } catch (error) {
    for (const candidate of touched) candidate.isTouched = true;
    throw error;
  }
}

/** Whether the named signer's own key has signed it: as was found at first, or was found when it was evaluated, for a later nonce. */
function isKeys({ isProven, verdict, search }: Candidate): boolean {
  return isProven === true || (verdict !== undefined && search.signatures().every(({ nonce }) => nonce !== undefined));
}

/**
 * Chooses which of the untrusted requests are evaluated next, in batches. Those that the named signer's own key has signed come first: whoever posts
 * in names that are made up, or in contract wallets', which nobody can prove without asking the chain for each, delays none of them.
 */
async function chooseUntrusted(
  context: RelayerContext,
  due: readonly Candidate[],
): Promise<readonly (readonly Candidate[])[]> {
  const unknown = takeRoundRobin(
    due.filter(({ isProven }) => isProven === undefined),
    MAX_PROOFS,
  );
  const proofs = unknown.length === 0 ? undefined : await proveSignatures(context, unknown);
  for (const candidate of unknown) candidate.isProven = proofs?.get(candidate.record.requestId);
  const looked = due.filter(({ isProven }) => isProven !== undefined);
  const [proven, unproven] = [looked.filter(isKeys), looked.filter((candidate) => !isKeys(candidate))];
  const batches = [listFirst(proven, MAX_PROVEN), listFirst(unproven, MAX_UNPROVEN)];
  return batches.filter((batch) => batch.length > 0);
}

/** Evaluates untrusted requests: those that are proven before the others. */
async function evaluateUntrusted(
  context: RelayerContext,
  due: readonly Candidate[],
  duplicates: ReadonlySet<Candidate>,
) {
  const { untrusted } = context.inFlight;
  let before = performance.eventLoopUtilization();
  const batches = await reportFaults(context, chooseUntrusted(context, due));
  untrusted.requestIds = new Set(batches.flat().map(({ record }) => record.requestId));
  for (const batch of batches) {
    await evaluateDue(context, batch, { duplicates, maxTries: MAX_TRIES });
    // Beside those who have paid before, of the processor's time half at most; a node that is slow takes none of it.
    if (untrusted.isShared) await pause(performance.eventLoopUtilization(before).active);
    before = performance.eventLoopUtilization();
  }
}

/** Begins to evaluate untrusted requests, unless others of theirs are being evaluated. */
function startUntrusted(context: RelayerContext, due: readonly Candidate[], duplicates: ReadonlySet<Candidate>): void {
  const { inFlight, wake } = context;
  const { untrusted } = inFlight;
  if (due.length === 0 || untrusted.requestIds.size > 0) return;
  untrusted.requestIds = new Set(due.map(({ record }) => record.requestId));
  untrusted.last = evaluateUntrusted(context, due, duplicates)
    .finally(() => {
      untrusted.requestIds = new Set();
    })
    // The next round reports a failure, and comes in its time: woken now, it would fail likewise.
    .then(wake, (error: unknown) => {
      untrusted.fault = { error };
    });
  inFlight.run(untrusted.last);
}

/**
 * Evaluates what is new and what is to be looked at again. Untrusted requests are evaluated beside: whoever has paid before waits for none of
 * them, and a round in which there is nobody else ends as soon as something new comes.
 *
 * @param seen - gets the verdicts
 * @see docs/specification.md RELAY-17
 * @throws ChainError, GatewayError if one of them does not answer
 */
export async function evaluateRequests(context: RelayerContext, seen: readonly Candidate[]): Promise<void> {
  const { gateway, inFlight } = context;
  const { untrusted } = inFlight;
  const duplicates = findDuplicates(inFlight, seen);
  const isPayer = createPayerTest(context);
  await screenNew(context, seen, { duplicates, isPayer });
  const isFree = ({ record }: Candidate) => !untrusted.requestIds.has(record.requestId);
  const due = listDue(context, seen.filter(isFree), isPayer);
  untrusted.isShared = due.knownPayers.length > 0;
  startUntrusted(context, due.untrusted, duplicates);
  // What they post again, the chain may have carried out already: to report that, no fee is too low.
  for (const candidate of due.knownPayers) candidate.isTouched = true;
  if (due.knownPayers.length > 0) await evaluateDue(context, due.knownPayers, { duplicates, maxTries: FEW_TRIES });
  else await Promise.race([untrusted.last, gateway.queue.nextUpdate()]);
  const { fault } = untrusted;
  untrusted.fault = undefined;
  if (fault !== undefined) throw fault.error;
}

/**
 * Finds duplicates: of several that ask for the very same, one is evaluated, and the others follow it; so do those of what is under way.
 *
 * @returns those that are not to be evaluated
 */
function findDuplicates(inFlight: InFlight, seen: readonly Candidate[]): ReadonlySet<Candidate> {
  const firsts = new Map<string, Candidate>();
  const isFollower = ({ verdict }: Candidate) => verdict?.kind === 'leave' && verdict.reason === 'duplicate';
  const duplicates = new Set<Candidate>();
  for (const candidate of seen) {
    const { fingerprint } = candidate;
    const first = firsts.get(fingerprint);
    if (inFlight.carries(fingerprint)) duplicates.add(candidate);
    else if (first === undefined) firsts.set(fingerprint, candidate);
    else if (isFollower(first) && !isFollower(candidate)) {
      duplicates.add(first);
      firsts.set(fingerprint, candidate);
    } else duplicates.add(candidate);
  }
  return duplicates;
}
