import type { BatchBounds, BatchTransition, Claim, ClaimTransition, StoredRequest } from '../../ports/requestStore.ts';
import { readItems } from './readItems.ts';
import { isExpired, readHead } from './requestItem.ts';
import type { RequestTable } from './requestTable.ts';

/** Claims under way at once: params show their size only with the claim, so up to seven of the largest may go beyond the bound. */
export const SLICE = 8;

/** Makes one claim. */
export type MakeClaim = (claim: Claim) => Promise<ClaimTransition>;

/** Bytes of a record's params. */
export const paramsBytesOf = ({ paramsJson }: StoredRequest): number => Buffer.byteLength(paramsJson);

/** Shortens what became of one request to what a batch tells. */
export function inBatch(transition: ClaimTransition): BatchTransition {
  const { outcome } = transition;
  if (outcome === 'moved' || outcome === 'missing') return transition;
  return { outcome: 'conflict', status: transition.record.status };
}

/** Tells of requests that are left as they stand. */
async function leaveAll(table: RequestTable, claims: readonly Claim[]): Promise<BatchTransition[]> {
  const ids = claims.map(({ requestId }) => requestId.toLowerCase());
  const items = await readItems(table, [...new Set(ids)], { consistent: true });
  return ids.map((id) => {
    const item = items.get(id);
    const head = item === undefined ? undefined : readHead(item);
    if (head === undefined || isExpired(head, table.now())) return { outcome: 'missing' };
    return { outcome: 'conflict', status: head.record.status };
  });
}

/**
 * Makes the claims of a batch, a slice at a time, until the records fill the answer; what is left then stays as it stands.
 *
 * @param batch.claim - makes one claim
 * @returns one a claim, in their order
 * @throws DependencyUnavailableError
 */
export async function claimAll(
  table: RequestTable,
  batch: BatchBounds & { readonly claims: readonly Claim[]; readonly claim: MakeClaim },
): Promise<readonly BatchTransition[]> {
  const { claims, maxParamsBytes, claim } = batch;
  const answers: BatchTransition[] = [];
  let bytes = 0;
  while (answers.length < claims.length && bytes < maxParamsBytes) {
    const transitions = await Promise.all(claims.slice(answers.length, answers.length + SLICE).map(claim));
    for (const each of transitions) if (each.outcome === 'moved') bytes += paramsBytesOf(each.record);
    answers.push(...transitions.map(inBatch));
  }
  return [...answers, ...(await leaveAll(table, claims.slice(answers.length)))];
}
