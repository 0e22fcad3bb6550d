import { randomInt } from 'node:crypto';
import { REQUEST_MOVES } from '@prism-gateway/protocol';
import type { OldestClaim, StoredRequest } from '../../ports/requestStore.ts';
import { type MakeClaim, paramsBytesOf, SLICE } from './claimAll.ts';
import { listRequests } from './listRequests.ts';
import type { ParamsReader } from './params.ts';
import type { RequestTable } from './requestTable.ts';

/** Most looks at what is pending: what rivals have taken meanwhile is made up for. */
const MAX_LOOKS = 4;
/** Requests among which a place is drawn where rivals go for the same. */
const WIDE_LOOK = 100;

/** What has been won so far. */
interface Haul {
  readonly won: StoredRequest[];
  bytes: number;
}

interface OldestContext {
  readonly oldest: OldestClaim;
  readonly claim: MakeClaim;
}

/**
 * Claims requests in turn, a slice at a time.
 *
 * @returns `taken` where rivals were first with most of a slice, `full` where the relayer has no more room
 */
async function claimInTurn(
  { oldest, claim }: OldestContext,
  requests: readonly StoredRequest[],
  haul: Haul,
): Promise<'done' | 'taken' | 'full'> {
  const { relayer, claimId, now, maxParamsBytes, maxOpenClaims } = oldest;
  const facts = { relayer, claimId, now, ...(maxOpenClaims !== undefined && { maxOpenClaims }) };
  for (let at = 0; at < requests.length && haul.bytes < maxParamsBytes; at += SLICE) {
    const slice = requests.slice(at, at + SLICE);
    const transitions = await Promise.all(slice.map(({ requestId }) => claim({ requestId, ...facts })));
    const moved = transitions.flatMap((each) => (each.outcome === 'moved' ? [each.record] : []));
    haul.won.push(...moved);
    haul.bytes += moved.reduce((sum, record) => sum + paramsBytesOf(record), 0);
    if (transitions.some(({ outcome }) => outcome === 'full')) return 'full';
    if (moved.length * 2 < slice.length) return 'taken';
  }
  return 'done';
}

const byAge = (a: StoredRequest, b: StoredRequest) => a.createdAt - b.createdAt || (a.requestId < b.requestId ? -1 : 1);

/**
 * Claims the oldest pending requests of a chain. Where rivals go for the same ones, each goes on from a place of its own among the oldest
 * hundred: a lost claim is a write that nobody has anything of.
 *
 * @param act.claim - makes one claim
 * @returns oldest first, until they fill the answer
 * @throws DependencyUnavailableError
 */
export async function claimOldest(
  table: RequestTable,
  params: ParamsReader,
  act: OldestContext,
): Promise<readonly StoredRequest[]> {
  const { chainName, limit, maxParamsBytes } = act.oldest;
  const filter = { chainName, status: REQUEST_MOVES.claim.from };
  const haul: Haul = { won: [], bytes: 0 };
  let outcome: Awaited<ReturnType<typeof claimInTurn>> = 'done';
  for (let looks = 0; looks < MAX_LOOKS && outcome !== 'full'; looks++) {
    const missing = limit - haul.won.length;
    if (missing === 0 || haul.bytes >= maxParamsBytes) break;
    const isContended = outcome === 'taken';
    const bounds = { limit: isContended ? WIDE_LOOK : missing, maxParamsBytes: maxParamsBytes - haul.bytes };
    const { items } = await listRequests(table, params, { filter, order: 'asc', ...bounds });
    if (items.length === 0) break;
    const from = isContended ? randomInt(items.length) : 0;
    const turn = [...items.slice(from), ...items.slice(0, from)].slice(0, missing);
    outcome = await claimInTurn(act, turn, haul);
  }
  return haul.won.sort(byAge);
}
