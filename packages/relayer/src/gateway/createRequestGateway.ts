import { MAX_PAGE_SIZE } from '@prism-gateway/protocol';
import { GatewayError, isGatewayError, type RelayerClient } from '@prism-gateway/sdk';
import type { ChainNotes } from '../lifecycle/createChainNotes.ts';
import type { Ended } from '../lifecycle/openRequest.ts';
import { runLimited } from '../lifecycle/runLimited.ts';
import { isAbsent, type QueueCalls } from './createQueueCalls.ts';
import type { ClaimResult, ReleaseResult, ReportResult, RequestGateway } from './requestGateway.ts';

/** Most claims and reports of single requests under way at once. */
const MAX_SINGLE_CALLS = 16;
/** Most requests in one call. */
const MAX_BATCH = 100;
/** How long a gateway that does not know a call is not asked for it again, in milliseconds: it may be replaced by a newer one. */
const ABSENT_MS = 600_000;

interface GatewayContext {
  readonly client: Pick<RelayerClient, 'claim' | 'releaseRequest' | 'reportSuccess' | 'reportFailure' | 'get' | 'list'>;
  /** The calls beyond the specification, as far as the gateway knows them. */
  readonly calls: Pick<QueueCalls, 'claim' | 'report'>;
  readonly chainName: string;
  readonly notes: Pick<ChainNotes, 'fault' | 'log'>;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** What a claim that failed means. @throws what is no GatewayError */
function readClaimError({ notes }: GatewayContext, error: unknown, facts: object): ClaimResult {
  if (isGatewayError(error, 'CONFLICT', 'NOT_FOUND')) return 'conflict';
  if (!(error instanceof GatewayError)) throw error;
  notes.fault('claim');
  notes.log.warn({ ...facts, code: error.code }, 'claim failed');
  // Surely not claimed, by anybody; otherwise the gateway has to be asked.
  return error.mayHaveHappened || error.code === 'ABORTED' ? 'unknown' : 'refused';
}

async function claimOne(context: GatewayContext, requestId: string): Promise<ClaimResult> {
  try {
    await context.client.claim(requestId, { signal: context.signal });
    return 'won';
  } catch (error) {
    return readClaimError(context, error, { requestId });
  }
}

async function reportOne({ client, notes, signal }: GatewayContext, ended: Ended): Promise<ReportResult> {
  const { requestId, outcome } = ended;
  try {
    if (outcome.status === 'success') await client.reportSuccess(requestId, outcome.txHash, { signal });
    else await client.reportFailure(requestId, outcome.errorMessage, { signal });
    return 'reported';
  } catch (error) {
    if (isGatewayError(error, 'CONFLICT', 'NOT_FOUND')) return 'lost';
    if (!(error instanceof GatewayError) || error.code === 'VALIDATION_FAILED') throw error;
    if (!signal.aborted) {
      notes.fault('report');
      notes.log.warn({ requestId, code: error.code }, 'report failed; trying again');
    }
    return 'unknown';
  }
}

async function release({ client, notes, signal }: GatewayContext, requestId: string): Promise<ReleaseResult> {
  try {
    await client.releaseRequest(requestId, { signal });
    return 'released';
  } catch (error) {
    if (isAbsent(error)) return 'absent';
    if (isGatewayError(error, 'CONFLICT')) return 'lost';
    if (!(error instanceof GatewayError)) throw error;
    if (!signal.aborted) notes.fault('gateway');
    return 'unknown';
  }
}

/** A batch is claimed with one signature and one commit. @throws GatewayError where the gateway does not know the call */
async function claimBatch(context: GatewayContext, requestIds: readonly string[]): Promise<Map<string, ClaimResult>> {
  try {
    const { conflicts } = await context.calls.claim(requestIds);
    // What is pending still was claimed by nobody: there was no room for it in the answer, or among the claims of this relayer.
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

/** @throws GatewayError where the gateway does not know the call, or takes one of the reports for invalid */
async function reportBatch(context: GatewayContext, ended: readonly Ended[]): Promise<Map<string, ReportResult>> {
  const { calls, notes, signal } = context;
  try {
    const { conflicts } = await calls.report(ended);
    const lost = new Set(conflicts.map(({ requestId }) => requestId.toLowerCase()));
    return new Map(ended.map(({ requestId: id }) => [id, lost.has(id.toLowerCase()) ? 'lost' : 'reported']));
  } catch (error) {
    if (isAbsent(error) || !(error instanceof GatewayError) || error.code === 'VALIDATION_FAILED') throw error;
    if (!signal.aborted) {
      notes.fault('report');
      notes.log.warn({ requests: ended.length, code: error.code }, 'report failed; trying again');
    }
    return new Map(ended.map(({ requestId }) => [requestId, 'unknown']));
  }
}

/** Does something for many at once, or one by one where the gateway does not know how; that is told once. */
function createBatching({ notes, now }: GatewayContext) {
  let absentUntilMs = 0;
  let isTold = false;
  return async function inBatches<T, R>(act: {
    readonly list: readonly T[];
    readonly together: (list: readonly T[]) => Promise<ReadonlyMap<string, R>>;
    readonly alone: (one: T) => Promise<readonly [string, R]>;
  }): Promise<ReadonlyMap<string, R>> {
    const results = new Map<string, R>();
    let rest = act.list;
    while (rest.length > 1 && now() >= absentUntilMs) {
      const batch = rest.slice(0, MAX_BATCH);
      try {
        for (const [id, result] of await act.together(batch)) results.set(id, result);
        rest = rest.slice(batch.length);
      } catch (error) {
        // One bad entry refuses its batch as a whole; each by itself, the others are taken.
        if (isGatewayError(error, 'VALIDATION_FAILED')) break;
        if (!isAbsent(error)) throw error;
        absentUntilMs = now() + ABSENT_MS;
        if (!isTold) notes.log.info({}, 'the gateway takes claims and reports one by one');
        isTold = true;
      }
    }
    const limit = MAX_SINGLE_CALLS;
    await runLimited({ list: rest, limit, act: async (one) => void results.set(...(await act.alone(one))) });
    return results;
  };
}

/**
 * Makes the gateway of one chain's requests: claims and reports go in batches where the gateway takes them, and else one by one.
 *
 * @see docs/specification.md
 */
export function createRequestGateway(context: GatewayContext): RequestGateway {
  const { client, chainName, signal } = context;
  const inBatches = createBatching(context);
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
    release: (requestId) => release(context, requestId),
    async read(requestId) {
      try {
        return await client.get(requestId, { signal });
      } catch (error) {
        if (isGatewayError(error, 'NOT_FOUND')) return undefined;
        throw error;
      }
    },
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
