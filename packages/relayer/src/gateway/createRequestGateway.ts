import { MAX_PAGE_SIZE, type RequestRecord } from '@prism-gateway/protocol';
import { GatewayError, isGatewayError, type RelayerClient } from '@prism-gateway/sdk';
import type { Events } from '../events/events.ts';
import type { Ended } from '../lifecycle/states.ts';
import type { ClaimResult, QueueCalls, ReleaseResult, ReportResult, RequestGateway } from './requestGateway.ts';
import { runLimited } from './runLimited.ts';

/** Most claims and reports of single requests under way at once. */
const MAX_SINGLE_CALLS = 16;
/** Most requests in one call. */
const MAX_BATCH = 100;
/** How long a gateway that does not know a call is not asked for it again, in milliseconds: it may be replaced by a newer one. */
const ABSENT_MS = 600_000;

interface GatewayContext {
  readonly client: RelayerClient;
  /** The calls beyond the specification, as far as the gateway knows them. */
  readonly calls: QueueCalls;
  readonly chainName: string;
  readonly events: Events;
  /** Milliseconds of a clock that is never set. */
  readonly monotonicNow: () => number;
  readonly signal: AbortSignal;
}

/** The request or requests of a failed claim. */
type ClaimFacts = { readonly requestId: string } | { readonly requests: number };

/** A server's statuses for a path, or a method of it, that it does not know. */
const UNKNOWN_ROUTE = [404, 405, 501];

/** Whether a gateway does not know a call: it has the specification's alone. @param error - what the call has thrown */
function isAbsent(error: unknown): boolean {
  return error instanceof GatewayError && UNKNOWN_ROUTE.includes(error.status ?? 0);
}

/** Makes the calls of one chain. */
export function createQueueCalls(options: {
  readonly client: RelayerClient;
  readonly chainName: string;
  readonly signal: AbortSignal;
}): QueueCalls {
  const { client, chainName, signal } = options;
  return {
    feed: (place) => client.readFeed({ chainName, ...place, signal }),
    claim: (requestIds) => client.claimRequests({ requestIds }, { signal }),
    report: (ended) =>
      client.reportRequests(
        ended.map(({ requestId, outcome }) => ({ requestId, ...outcome })),
        { signal },
      ),
  };
}

/** Answers of 409 by which the gateway keeps from this relayer what nobody else has claimed. */
const REFUSALS = ['CLAIMED_TOO_LONG', 'TOO_MANY_OPEN_CLAIMS'];

/** The meaning of a failed claim. @throws what is no GatewayError */
function readClaimError({ events }: GatewayContext, error: unknown, facts: ClaimFacts): ClaimResult {
  if (!(error instanceof GatewayError)) throw error;
  if (error.kind === 'CONFLICT') return REFUSALS.includes(error.code) ? 'refused' : 'conflict';
  if (error.kind === 'NOT_FOUND') return 'conflict';
  events.emit({ type: 'claim-failed', where: 'claim', ...facts, code: error.code });
  // Surely not claimed, by anybody; otherwise the gateway has to be asked.
  return error.mayHaveHappened || error.kind === 'ABORTED' ? 'unknown' : 'refused';
}

async function claimOne(context: GatewayContext, requestId: string): Promise<ClaimResult> {
  try {
    await context.client.claim(requestId, { signal: context.signal });
    return 'won';
  } catch (error) {
    return readClaimError(context, error, { requestId });
  }
}

async function reportOne({ client, events, signal }: GatewayContext, ended: Ended): Promise<ReportResult> {
  const { requestId, outcome } = ended;
  try {
    if (outcome.status === 'success') await client.reportSuccess(requestId, outcome.txHash, { signal });
    else await client.reportFailure(requestId, outcome.errorMessage, { signal });
    return 'reported';
  } catch (error) {
    if (isGatewayError(error, 'CONFLICT', 'NOT_FOUND')) return 'lost';
    if (!(error instanceof GatewayError) || error.kind === 'VALIDATION_FAILED') throw error;
    if (!signal.aborted) events.emit({ type: 'report-failed', where: 'report', requestId, code: error.code });
    return 'unknown';
  }
}

/** @returns undefined if there is no such request */
async function read({ client, signal }: GatewayContext, requestId: string): Promise<RequestRecord | undefined> {
  try {
    return await client.get(requestId, { signal });
  } catch (error) {
    if (isGatewayError(error, 'NOT_FOUND')) return undefined;
    throw error;
  }
}

/** @throws GatewayError if it is not known */
async function tryRelease(context: GatewayContext, requestId: string): Promise<ReleaseResult> {
  try {
    await context.client.releaseRequest(requestId, { signal: context.signal });
    return 'released';
  } catch (error) {
    if (isGatewayError(error, 'CONFLICT')) return 'lost';
    if (!isAbsent(error)) throw error;
    // A gateway that was restored from an older copy does not know the request; its call it knows.
    return (await read(context, requestId)) === undefined ? 'lost' : 'absent';
  }
}

async function release(context: GatewayContext, requestId: string): Promise<ReleaseResult> {
  try {
    return await tryRelease(context, requestId);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    if (!context.signal.aborted) context.events.emit({ type: 'fault', where: 'gateway' });
    return 'unknown';
  }
}

/** A batch is claimed with one signature and one commit. @throws GatewayError if the gateway does not know the call */
async function claimBatch(context: GatewayContext, requestIds: readonly string[]): Promise<Map<string, ClaimResult>> {
  try {
    const { conflicts } = await context.calls.claim(requestIds);
    // A request that is still pending was claimed by nobody: there was no room for it in the answer, or among the claims of this relayer.
    const lost = new Map<string, ClaimResult>(
      conflicts.map(({ requestId, status }) => [
        requestId.toLowerCase(),
        status === 'pending' ? 'refused' : 'conflict',
      ]),
    );
    return new Map(requestIds.map((id) => [id, lost.get(id.toLowerCase()) ?? 'won']));
  } catch (error) {
    if (isAbsent(error)) throw error;
    const result = readClaimError(context, error, { requests: requestIds.length });
    return new Map(requestIds.map((id) => [id, result]));
  }
}

/** @throws GatewayError if the gateway does not know the call, or takes one of the reports for invalid */
async function reportBatch(context: GatewayContext, ended: readonly Ended[]): Promise<Map<string, ReportResult>> {
  const { calls, events, signal } = context;
  try {
    const { conflicts } = await calls.report(ended);
    const lost = new Set(conflicts.map(({ requestId }) => requestId.toLowerCase()));
    return new Map(ended.map(({ requestId: id }) => [id, lost.has(id.toLowerCase()) ? 'lost' : 'reported']));
  } catch (error) {
    if (isAbsent(error) || !(error instanceof GatewayError) || error.kind === 'VALIDATION_FAILED') throw error;
    if (!signal.aborted)
      events.emit({ type: 'report-failed', where: 'report', requests: ended.length, code: error.code });
    return new Map(ended.map(({ requestId }) => [requestId, 'unknown']));
  }
}

/** Does something for many at once, or one by one if the gateway does not know how; that is logged once. */
function createBatching({ events, monotonicNow }: GatewayContext) {
  let absentUntilMs = Number.NEGATIVE_INFINITY;
  let isResolved = false;
  return async function inBatches<T, R>(act: {
    readonly list: readonly T[];
    readonly together: (list: readonly T[]) => Promise<ReadonlyMap<string, R>>;
    readonly alone: (one: T) => Promise<readonly [string, R]>;
  }): Promise<ReadonlyMap<string, R>> {
    const results = new Map<string, R>();
    let rest = act.list;
    while (rest.length > 1 && monotonicNow() >= absentUntilMs) {
      const batch = rest.slice(0, MAX_BATCH);
      try {
        for (const [id, result] of await act.together(batch)) results.set(id, result);
        rest = rest.slice(batch.length);
      } catch (error) {
        // One bad entry refuses its batch as a whole; each by itself, the others are taken.
        if (isGatewayError(error, 'VALIDATION_FAILED')) break;
        if (!isAbsent(error)) throw error;
        absentUntilMs = monotonicNow() + ABSENT_MS;
        if (!isResolved) events.emit({ type: 'batches-unknown' });
        isResolved = true;
      }
    }
    const limit = MAX_SINGLE_CALLS;
    await runLimited({ list: rest, limit, act: async (one) => void results.set(...(await act.alone(one))) });
    return results;
  };
}

/**
 * Makes the gateway of one chain's requests: claims and reports go in batches if the gateway takes them, and else one by one.
 *
 * @see docs/specification.md
 */
export function createRequestGateway(context: GatewayContext): RequestGateway {
  const { client, chainName, signal } = context;
  const inBatches = createBatching(context);
  let hasLeases = true;
  return {
    claim: (list) =>
      inBatches({
        list,
        together: (batch) => claimBatch(context, batch),
        alone: async (id) => [id, await claimOne(context, id)] as const,
      }),
    report: (list) =>
      inBatches({
        list,
        together: (batch) => reportBatch(context, batch),
        alone: async (ended) => [ended.requestId, await reportOne(context, ended)] as const,
      }),
    async release(requestId) {
      const result = await release(context, requestId);
      if (result !== 'unknown') hasLeases = result !== 'absent';
      return result;
    },
    hasLeases: () => hasLeases,
    read: (requestId) => read(context, requestId),
    async *processing() {
      const filter = { status: 'processing', chainName, limit: MAX_PAGE_SIZE } as const;
      for await (const { items } of client.list(filter, { signal }).pages()) yield items;
    },
    async newestOf(signer) {
      const filter = { signer, chainName, limit: MAX_PAGE_SIZE, order: 'desc' } as const;
      return (await client.list(filter, { signal }).page()).items;
    },
  };
}
