import { isGatewayError, type RelayerClient } from '@prism-gateway/sdk';
import type { Hex } from 'viem';
import { DISPUTED_MS } from '../lifecycle/giveUpBlocked.ts';
import type { SignedRecord } from '../lifecycle/states.ts';
import type { WatchJournal } from './journal/openWatchJournal.ts';

/** Most requests of a signer that are listed: a relayer that asks whether an earlier nonce is awaited reads as many of the newest. */
const MAX_LISTED = 100;

/** The parts of the question. */
interface OpenBeforeContext {
  readonly client: Pick<RelayerClient, 'get' | 'list'>;
  readonly chainName: string;
  readonly journal: Pick<WatchJournal, 'get'>;
}

/**
 * Lists a signer's requests that were posted before one that was reported failed, and were open until after that report,
 * or had been reported `success` a moment before, which may be a lie: an honest relayer has waited for them. A request that was reopened
 * at any time may not have been open then, and is none of them; nor is one that the watch has seen later than the failed one: a gateway's
 * clock that was set back dates it as if it were older. The end of one is no later than the chain's newest block when the watch saw it.
 *
 * @param reported.requestId - of the failed one; there are none if it is failed no more
 * @throws GatewayError
 * @see docs/specification.md WATCH-7
 */
export async function listOpenBefore(
  { client, chainName, journal }: OpenBeforeContext,
  reported: { readonly requestId: string; readonly signer: Hex },
): Promise<readonly SignedRecord[]> {
  const failed = await client.get(reported.requestId).catch((error: unknown) => {
    if (isGatewayError(error, 'NOT_FOUND')) return undefined;
    throw error;
  });
  if (failed?.status !== 'failed') return [];
  const firstBlock = journal.get(reported.requestId)?.firstBlock ?? 0n;
  const [createdMs, reportedMs] = [failed.createdAt, failed.updatedAt].map(Date.parse) as [number, number];
  const { items } = await client.list({ signer: reported.signer, chainName, limit: MAX_LISTED, order: 'desc' }).page();
  return items.filter(({ requestId, createdAt, status, updatedAt }) => {
    const known = journal.get(requestId);
    if (known === undefined || known.isReopened || known.firstBlock > firstBlock) return false;
    const isEarlier = Date.parse(createdAt) < createdMs;
    const isOpen = status === 'pending' || status === 'processing';
    // A clock that was ahead may have dated its end.
    const endedMs = Math.min(Date.parse(updatedAt), Number(known.reportedSeconds ?? Number.POSITIVE_INFINITY) * 1000);
    const wasAwaited = isOpen || endedMs > reportedMs - (status === 'success' ? DISPUTED_MS : 0);
    return isEarlier && wasAwaited;
  });
}
