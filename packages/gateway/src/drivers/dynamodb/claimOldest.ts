import { REQUEST_MOVES } from '@prism-gateway/protocol';
import type { OldestClaim, StoredRequest } from '../../ports/requestStore.ts';
import { claimAll, type MakeClaim, paramsBytesOf } from './claimAll.ts';
import { listRequests } from './listRequests.ts';
import type { ParamsReader } from './params.ts';
import type { RequestTable } from './requestTable.ts';

/** Most pages that a claim of the oldest looks at: what rivals have taken meanwhile is made up for. */
const MAX_PAGES = 4;

/**
 * Claims the oldest pending requests of a chain; what rivals take between the list and the claims is made up for by the next ones.
 *
 * @param act.claim - makes one claim
 * @returns oldest first, until they fill the answer
 * @throws DependencyUnavailableError
 */
export async function claimOldest(
  table: RequestTable,
  params: ParamsReader,
  { oldest, claim }: { readonly oldest: OldestClaim; readonly claim: MakeClaim },
): Promise<readonly StoredRequest[]> {
  const { chainName, limit, maxParamsBytes, ...facts } = oldest;
  const filter = { chainName, status: REQUEST_MOVES.claim.from };
  const won: StoredRequest[] = [];
  let bytes = 0;
  let after: string | null | undefined;
  for (let page = 0; page < MAX_PAGES && won.length < limit && bytes < maxParamsBytes && after !== null; page++) {
    const bounds = { limit: limit - won.length, maxParamsBytes: maxParamsBytes - bytes };
    const query = { filter, order: 'asc', ...bounds, ...(after !== undefined && { after }) } as const;
    const { items, next } = await listRequests(table, params, query);
    const claims = items.map(({ requestId }) => ({ requestId, ...facts }));
    const transitions = await claimAll(table, { claims, claim, maxParamsBytes: bounds.maxParamsBytes });
    for (const each of transitions) {
      if (each.outcome !== 'moved' || each.record === undefined) continue;
      won.push(each.record);
      bytes += paramsBytesOf(each.record);
    }
    after = next;
  }
  return won;
}
