import { isGatewayError, type RelayerClient } from '@prism-gateway/sdk';
import type { Hex } from 'viem';
import { listSignedParts, type SignedPart } from '../checks/findNonce.ts';
import { DISPUTED_MS } from '../lifecycle/giveUpBlocked.ts';
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
 * Lists the signatures of a signer's requests that were posted before one that was reported failed, and were open until after that report,
 * or had been reported `success` a moment before, which may be a lie: an honest relayer has waited for them. A request that was reopened
 * at any time may not have been open then, and is none of them; nor is one that the watch has seen later than the failed one: a gateway's
 * clock that was set back dates it as if it were older.
 *
 * @param reported.requestId - of the failed one; there are none if it is failed no more
 * @throws GatewayError
 * @see docs/specification.md WATCH-7
 */
export async function listOpenBefore(
  { client, chainName, journal }: OpenBeforeContext,
  { requestId, signer }: { readonly requestId: string; readonly signer: Hex },
): Promise<readonly SignedPart[]> {
  const failed = await client.get(requestId).catch((error: unknown) => {
    if (isGatewayError(error, 'NOT_FOUND')) return undefined;
    throw error;
  });
  if (failed?.status !== 'failed') return [];
  const firstBlock = journal.get(requestId)?.firstBlock ?? 0n;
  const [createdMs, reportedMs] = [failed.createdAt, failed.updatedAt].map(Date.parse) as [number, number];
  const { items } = await client.list({ signer, chainName, limit: MAX_LISTED, order: 'desc' }).page();
  return items
    .filter(({ createdAt, status, updatedAt, ...record }) => {
      const known = journal.get(record.requestId);
      if (known === undefined || known.isReopened || known.firstBlock > firstBlock) return false;
      const isEarlier = Date.parse(createdAt) < createdMs;
      const isOpen = status === 'pending' || status === 'processing';
      const wasAwaited = isOpen || Date.parse(updatedAt) > reportedMs - (status === 'success' ? DISPUTED_MS : 0);
      return isEarlier && wasAwaited;
    })
    .flatMap(listSignedParts)
    .filter((part) => part.signer === signer);
}
