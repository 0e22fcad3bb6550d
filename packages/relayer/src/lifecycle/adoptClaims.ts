import type { RequestRecord } from '@prism-gateway/protocol';
import { ChainError } from '../chain/chainError.ts';
import { checkRequests } from '../checks/checkRequests.ts';
import { createNonceSearch } from '../checks/createNonceSearch.ts';
import { findNonce, listSignedParts } from '../checks/findNonce.ts';
import { ruleOf, type Verdict } from '../checks/leaveReasons.ts';
import { findExpiry } from '../checks/screenRequests.ts';
import { runLimited } from '../gateway/runLimited.ts';
import { findOutcome } from '../nodes/findOutcome.ts';
import { findLeaseEnd, isOwnClaim, readRecord } from './confirmClaim.ts';
import type { RelayerContext } from './context.ts';
import { countTakeOverRoom } from './pickClaims.ts';
import type { BegunRequest, SignatureRef } from './states.ts';

/** Most claims that are looked up at once. */
const MAX_LOOKUPS = 8;

/** @returns what identifies each signature on the chain; undefined if the node did not say a signer's nonce @throws ChainError */
async function findSignatures(
  { chain }: RelayerContext,
  record: RequestRecord,
): Promise<readonly SignatureRef[] | undefined> {
  const parts = listSignedParts(record);
  const nonces = await chain.reader.nonces(parts.map(({ signer }) => signer));
  const signatures: SignatureRef[] = [];
  for (const part of parts) {
    const { signer, r, s } = part;
    const current = nonces.get(signer);
    if (current === undefined) return undefined;
    signatures.push({ signer, r, s, nonce: await findNonce({ ...chain, part, current }) });
  }
  return signatures;
}

/** Asks the gateway once more: the list may be older than this relayer's own report. Then it becomes `claimed`. */
async function adopt(context: RelayerContext, request: BegunRequest): Promise<void> {
  const { journal, inFlight, events, now, signal, advance } = context;
  const { requestId } = request;
  const record = await readRecord(context, requestId);
  if (signal.aborted || record === undefined || !isOwnClaim(context, record)) return inFlight.drop(requestId);
  try {
    journal.adopt(request);
  } catch (error) {
    // It is found again once the disk has room.
    inFlight.drop(requestId);
    throw error;
  }
  inFlight.note(requestId, { kind: 'blocked', sinceMs: now() });
  events.emit({ type: 'claim-adopted', requestId });
  advance([requestId]);
}

async function adoptOwn(context: RelayerContext, record: RequestRecord): Promise<void> {
  const { journal, inFlight, now } = context;
  const { requestId } = record;
  const signatures = await findSignatures(context, record);
  // Meanwhile a round may have taken it.
  if (signatures === undefined || inFlight.has(requestId) || journal.get(requestId) !== undefined) return;
  const claimedAtMs = record.claimedAt === undefined ? now() : Date.parse(record.claimedAt);
  const request = { requestId, record, signatures, gas: undefined, claimedAtMs };
  // Before the gateway is asked: from here on nothing else takes it.
  inFlight.take(request);
  inFlight.run(adopt(context, request));
}

async function adoptAll(context: RelayerContext): Promise<void> {
  const { chain, gateway, inFlight } = context;
  for await (const page of gateway.processing()) {
    const unknown = page.filter(({ requestId }) => !inFlight.has(requestId));
    const own = chain.isKeyShared() ? [] : unknown.filter((record) => isOwnClaim(context, record));
    await runLimited({ list: own, limit: MAX_LOOKUPS, act: (record) => adoptOwn(context, record) });
    const others = unknown.filter((record) => !isOwnClaim(context, record) && isStale(context, record));
    await takeOverStale(context, others);
  }
}

/**
 * Looks at the gateway for claims that need somebody: those of this relayer that its journal does not know, as after the loss of its
 * disk, and those of relayers that have gone silent. The signal ends it.
 *
 * @throws GatewayError, ChainError if one of them does not answer
 */
export async function adoptClaims(context: RelayerContext): Promise<void> {
  try {
    await adoptAll(context);
  } catch (error) {
    if (!context.signal.aborted) throw error;
  }
}

/** A request of a relayer that has gone silent. */
interface Stale {
  readonly record: RequestRecord;
  readonly signatures: readonly SignatureRef[];
}

/**
 * Says since when a claim of another relayer may be taken over, in Unix milliseconds; the one place that does. A third of a lease after its
 * end: until then a watchtower sees who is idle. A try that the gateway has refused counts as a claim.
 */
function findStaleSince(context: RelayerContext, { requestId, claimedAt }: RequestRecord): number {
  const claimedAtMs = Math.max(Date.parse(claimedAt ?? ''), context.journal.lostAtMs(requestId) ?? 0);
  return findLeaseEnd(context, claimedAtMs) + context.policy.leaseMs / 3;
}

const isStale = (context: RelayerContext, record: RequestRecord) => context.now() > findStaleSince(context, record);

/**
 * Whether to take a stale claim over: what this relayer would leave as a pending request it leaves here, too, unless there is something to
 * report.
 */
async function isWorthTaking(context: RelayerContext, stale: Stale, verdict: Verdict): Promise<boolean> {
  if (verdict.kind !== 'leave' || (await findExpiry(context, stale.record)) !== undefined) return true;
  const { isUnused, finality } = ruleOf(verdict.reason);
  if (isUnused) return false;
  const { kind } = await findOutcome(context, stale);
  if (kind === 'executed' || kind === 'replaced') return true;
  const { now, policy } = context;
  return kind === 'open' && finality === 'fails' && now() > findStaleSince(context, stale.record) + policy.giveUpMs;
}

/** One that cannot be evaluated does not hold the others up; it is looked at again. */
async function isWorthTakingNow(context: RelayerContext, stale: Stale, verdict: Verdict | undefined): Promise<boolean> {
  try {
    return verdict !== undefined && (await isWorthTaking(context, stale, verdict));
  } catch (error) {
    if (!(error instanceof ChainError)) throw error;
    context.events.emit({ type: 'fault', where: 'chain' });
    return false;
  }
}

/** `claiming` becomes `claimed` or `lost`: the gateway decides whether the lease of the other is over. */
async function takeOver(context: RelayerContext, requestId: string): Promise<void> {
  const { gateway, journal, inFlight, events, now, advance } = context;
  const result = (await gateway.claim([requestId])).get(requestId);
  if (result === 'conflict') {
    try {
      journal.move([{ requestId, to: 'lost', by: 'takeOverStale', nowMs: now() }]);
    } catch (error) {
      // The gateway is asked once more, for as long as that cannot be written down.
      advance([requestId]);
      throw error;
    }
    return inFlight.drop(requestId);
  }
  // The gateway is asked whose it is, and then the chain what became of it.
  events.emit({ type: 'claim-taken-over', requestId });
  advance([requestId]);
}

async function listStale(context: RelayerContext, records: readonly RequestRecord[]): Promise<readonly Stale[]> {
  const known = records.map(async (record) => ({ record, signatures: await findSignatures(context, record) }));
  return (await Promise.all(known)).filter((each): each is Stale => each.signatures !== undefined);
}

/**
 * Takes over claims of relayers that have gone silent: those that this relayer would claim if they were pending, those that the chain
 * shows to be carried out, and those that can only be reported failed.
 *
 * @param records - stale, and claimed by others
 * @throws ChainError if the node does not answer
 */
async function takeOverStale(context: RelayerContext, records: readonly RequestRecord[]): Promise<void> {
  const { journal, inFlight, events, now, signal } = context;
  if (records.length === 0) return;
  // Whoever takes over and cannot send would keep the request from others once more, and look idle.
  let room = await countTakeOverRoom(context);
  const isFull = () => signal.aborted || room <= 0;
  if (isFull()) return;
  const stale = await listStale(context, records);
  const candidates = stale.map(({ record, signatures }) => ({ record, search: createNonceSearch(record, signatures) }));
  const { verdicts, failures } = await checkRequests(context, { candidates });
  for (const [requestId, { message }] of failures)
    events.emit({ type: 'evaluation-failed', where: 'evaluation', requestId, reason: message });
  await runLimited({
    list: stale,
    limit: MAX_LOOKUPS,
    async act(one) {
      const { record, signatures } = one;
      const { requestId } = record;
      if (isFull() || !(await isWorthTakingNow(context, one, verdicts.get(requestId)))) return;
      // Meanwhile a round may have taken it, or the last room.
      if (isFull() || inFlight.has(requestId) || journal.get(requestId) !== undefined) return;
      const request = { requestId, record, signatures, gas: undefined, claimedAtMs: now() };
      room--;
      journal.begin([request], 'takeOverStale');
      inFlight.take(request);
      inFlight.run(takeOver(context, requestId));
    },
  });
}
