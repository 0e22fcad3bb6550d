import { randomInt } from 'node:crypto';
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { REQUEST_MOVES } from '@prism-gateway/protocol';
import type {
  BatchBounds,
  BatchTransition,
  Claim,
  ClaimTransition,
  OldestClaim,
  StoredRequest,
  Transition,
} from '../../ports/requestStore.ts';
import { askStore } from './askStore.ts';
import { number, text } from './attributes.ts';
import { listRequests } from './listRequests.ts';
import { headOfAnswer, type Move, moveRequest, transitionOf } from './moveRequest.ts';
import type { OpenClaims } from './openClaims.ts';
import type { ParamsReader } from './params.ts';
import { readItems } from './readItems.ts';
import {
  callMarkOf,
  isExpired,
  PENDING_ATTRIBUTES,
  type RequestHeader,
  type RequestTable,
  readHead,
} from './requestItem.ts';

/** Claims under way at once: params show their size only with the claim, so up to seven of the largest may go beyond the bound. */
const CLAIMS_AT_ONCE = 8;

/** Makes one claim. */
type MakeClaim = (claim: Claim) => Promise<ClaimTransition>;

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
    const transitions = await Promise.all(claims.slice(answers.length, answers.length + CLAIMS_AT_ONCE).map(claim));
    for (const each of transitions) if (each.outcome === 'moved') bytes += paramsBytesOf(each.record);
    answers.push(...transitions.map(inBatch));
  }
  return [...answers, ...(await leaveAll(table, claims.slice(answers.length)))];
}

/** Most looks at what is pending: what rivals have taken meanwhile is made up for. */
const MAX_PENDING_LOOKS = 4;
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

/** Claims requests in turn, a slice at a time. */
async function claimInTurn(
  { oldest, claim }: OldestContext,
  requests: readonly StoredRequest[],
  haul: Haul,
): Promise<'done' | 'taken' | 'full'> {
  const { relayer, claimId, now, maxParamsBytes, maxOpenClaims } = oldest;
  const facts = { relayer, claimId, now, ...(maxOpenClaims !== undefined && { maxOpenClaims }) };
  for (let at = 0; at < requests.length && haul.bytes < maxParamsBytes; at += CLAIMS_AT_ONCE) {
    const slice = requests.slice(at, at + CLAIMS_AT_ONCE);
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
  for (let looks = 0; looks < MAX_PENDING_LOOKS && outcome !== 'full'; looks++) {
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

const { claim: CLAIM, takeOver: TAKE_OVER } = REQUEST_MOVES;

/** The part of the move that is the same from whatever state it comes. */
function createMove({
  requestId,
  relayer,
  claimId,
  now,
}: Claim): Pick<Move, 'requestId' | 'to' | 'callId' | 'set' | 'remove'> {
  const set = { claimedBy: text(relayer), claimedAt: number(now), updatedAt: number(now) };
  const remove = PENDING_ATTRIBUTES;
  return { requestId: requestId.toLowerCase(), to: CLAIM.to[0], callId: claimId, set, remove };
}

/** A claim that stands. */
type Held = RequestHeader['record'] & { readonly claimedBy: string; readonly claimedAt: number };

function readHeld(head: RequestHeader | undefined, { claimId }: Claim): Held | undefined {
  if (head === undefined || head.record.status !== TAKE_OVER.from) return undefined;
  // A repetition of the call that holds the claim is no take-over.
  if (Buffer.compare(callMarkOf(claimId), head.callMark ?? new Uint8Array()) === 0) return undefined;
  const { claimedBy, claimedAt } = head.record;
  return claimedBy === undefined || claimedAt === undefined ? undefined : { ...head.record, claimedBy, claimedAt };
}

const isOwn = ({ claimedBy }: Held, { relayer }: Claim) => claimedBy.toLowerCase() === relayer.toLowerCase();

function isLapsed(held: Held, claim: Claim): boolean {
  const { leaseExpiredAt, ownLeaseExpiredAt = leaseExpiredAt } = claim;
  const limit = isOwn(held, claim) ? ownLeaseExpiredAt : leaseExpiredAt;
  return limit !== undefined && held.claimedAt <= limit;
}

const isRenewable = (held: Held, claim: Claim) =>
  isOwn(held, claim) && held.claimedAt > (claim.leaseExpiredAt ?? Number.NEGATIVE_INFINITY);

type IsReplaceable = (held: Held, claim: Claim) => boolean;

/** What a claim needs beside the table. */
interface ClaimContext {
  readonly table: RequestTable;
  readonly params: ParamsReader;
  readonly openClaims: OpenClaims;
}

/** Replaces the very claim that stands. */
function replaceClaim(table: RequestTable, claim: Claim, held: Held) {
  return moveRequest(table, {
    ...createMove(claim),
    from: [TAKE_OVER.from],
    condition: '#status = :standing AND #claimedBy = :standingOwner AND #claimedAt = :standingSince',
    values: {
      ':standing': text(TAKE_OVER.from),
      ':standingOwner': text(held.claimedBy),
      ':standingSince': number(held.claimedAt),
    },
  });
}

/** Most looks at a request whose claim is replaced by others again and again. */
const MAX_LOOKS = 5;

function claimPending(table: RequestTable, claim: Claim) {
  return moveRequest(table, {
    ...createMove(claim),
    from: [CLAIM.from],
    condition: '#status = :unclaimed AND (attribute_not_exists(#expiresAt) OR #expiresAt > :second)',
    values: { ':unclaimed': text(CLAIM.from), ':second': number(Math.floor(table.now() / 1000)) },
  });
}

/**
 * Claims a request: `pending` becomes `processing` by one conditional write. Only where that finds a claim that may be replaced, a
 * second one replaces that very claim; if it has gone meanwhile, the request is looked at anew.
 */
async function claimUnless(
  { table, params }: ClaimContext,
  claim: Claim,
  isReplaceable: IsReplaceable,
): Promise<Transition> {
  let answer = await claimPending(table, claim);
  for (let looks = 1; !answer.done; looks++) {
    const held = readHeld(headOfAnswer(answer), claim);
    if (held === undefined || !isReplaceable(held, claim)) break;
    answer = await replaceClaim(table, claim, held);
    if (answer.done || looks === MAX_LOOKS) break;
    answer = await claimPending(table, claim);
  }
  return await transitionOf(table, params, answer, claim.claimId);
}

/** Claims for a relayer that has no room: only what it holds already can be claimed anew. */
async function claimWithoutRoom(
  { table, params }: ClaimContext,
  claim: Claim,
  isReplaceable: IsReplaceable,
): Promise<ClaimTransition> {
  const { client, name: TableName } = table;
  const Key = { requestId: text(claim.requestId.toLowerCase()) };
  const { Item: item } = await askStore(() =>
    client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true })),
  );
  const answer = { done: false, item } as const;
  const held = readHeld(headOfAnswer(answer), claim);
  const isToBeHad = held !== undefined && isReplaceable(held, claim);
  if (isToBeHad && isOwn(held, claim)) {
    return await transitionOf(table, params, await replaceClaim(table, claim, held), claim.claimId);
  }
  const transition = await transitionOf(table, params, answer, claim.claimId);
  if (transition.outcome !== 'conflict') return transition;
  return isToBeHad || transition.record.status === CLAIM.from ? { ...transition, outcome: 'full' } : transition;
}

/** Keeps the bound of open claims around a claim. */
async function claimWithin(
  context: ClaimContext,
  claim: Claim,
  isReplaceable: IsReplaceable,
): Promise<ClaimTransition> {
  const { openClaims } = context;
  const { maxOpenClaims, relayer } = claim;
  const givePlace = maxOpenClaims === undefined ? () => undefined : await openClaims.takePlace(relayer, maxOpenClaims);
  if (givePlace === undefined) return await claimWithoutRoom(context, claim, isReplaceable);
  try {
    const transition = await claimUnless(context, claim, isReplaceable);
    if (transition.outcome === 'moved') {
      const { requestId, chainName, claimedBy = relayer, claimedAt = claim.now } = transition.record;
      openClaims.opened({ requestId, chainName, relayer: claimedBy, claimedAt });
    }
    return transition;
  } finally {
    givePlace();
  }
}

/**
 * Claims a request: `pending`, or `processing` with a lapsed lease, becomes `processing`.
 *
 * @throws DependencyUnavailableError
 */
export function claimRequest(context: ClaimContext, claim: Claim): Promise<ClaimTransition> {
  return claimWithin(context, claim, isLapsed);
}

/**
 * Claims a request like `claimRequest`, or renews the claim where the relayer holds it already.
 *
 * @throws DependencyUnavailableError
 */
export function claimOrRenew(context: ClaimContext, claim: Claim): Promise<ClaimTransition> {
  return claimWithin(context, claim, (held) => isRenewable(held, claim) || isLapsed(held, claim));
}
