import { MAX_PAGE_SIZE } from '@prism-gateway/protocol';
import { GatewayError, isGatewayError, type RelayerClient } from '@prism-gateway/sdk';
import type { ChainNotes } from '../lifecycle/createChainNotes.ts';
import type { Ended } from '../lifecycle/openRequest.ts';
import { runLimited } from '../lifecycle/runLimited.ts';
import type { ClaimResult, ReportResult, RequestGateway } from './requestGateway.ts';

/** Most reports under way at once. */
const MAX_REPORTS = 16;

interface GatewayContext {
  readonly client: Pick<RelayerClient, 'claim' | 'reportSuccess' | 'reportFailure' | 'get' | 'list'>;
  readonly chainName: string;
  readonly notes: Pick<ChainNotes, 'fault' | 'log'>;
  readonly signal: AbortSignal;
}

async function claimOne({ client, notes, signal }: GatewayContext, requestId: string): Promise<ClaimResult> {
  try {
    await client.claim(requestId, { signal });
    return 'won';
  } catch (error) {
    if (isGatewayError(error, 'CONFLICT', 'NOT_FOUND')) return 'conflict';
    if (!(error instanceof GatewayError)) throw error;
    notes.fault('claim');
    notes.log.warn({ requestId, code: error.code }, 'claim failed');
    // Surely not claimed; otherwise the gateway has to be asked.
    return error.mayHaveHappened || error.code === 'ABORTED' ? 'unknown' : 'conflict';
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

/**
 * Makes the gateway of one chain's requests, over the calls of the specification alone.
 *
 * @param context.client - the relayer's
 * @param context.signal - ends what is under way
 * @see docs/specification.md
 */
export function createRequestGateway(context: GatewayContext): RequestGateway {
  const { client, chainName, signal } = context;
  return {
    async claim(requestIds) {
      return new Map(await Promise.all(requestIds.map(async (id) => [id, await claimOne(context, id)] as const)));
    },
    async report(ended) {
      const results = new Map<string, ReportResult>();
      await runLimited({
        list: ended,
        limit: MAX_REPORTS,
        act: async (one) => void results.set(one.requestId, await reportOne(context, one)),
      });
      return results;
    },
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
