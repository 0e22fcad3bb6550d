import { randomUUID } from 'node:crypto';
import type { UpdateItemCommandOutput } from '@aws-sdk/client-dynamodb';
import { REQUEST_MOVES } from '@prism-gateway/protocol';
import type {
  BatchBounds,
  BatchTransition,
  Release,
  ReleaseAll,
  Report,
  Transition,
} from '../../ports/requestStore.ts';
import type { ConditionalAnswer } from './askStore.ts';
import { bytes, type Item, number, text } from './attributes.ts';
import { inBatch, paramsBytesOf } from './claimRequest.ts';
import { headOfAnswer, type Move, moveRequest, settleParams, transitionOf } from './moveRequest.ts';
import type { OpenClaims } from './openClaims.ts';
import type { ParamsReader } from './params.ts';
import { positionBytes, positionOf } from './position.ts';
import {
  expiryOf,
  PARAMS_OUTLIVE_SECONDS,
  type RequestHeader,
  type RequestTable,
  transactionKey,
} from './requestItem.ts';
import { TTL_ATTRIBUTE } from './tables.ts';

/** Releases under way at once: few, so that the work of others goes on. */
const RELEASES_AT_ONCE = 8;

/**
 * Gives back what a relayer holds, as the index shows it now. A claim of the last second may not be in it yet: who has ended a relayer's
 * access asks until nothing is left, and once more.
 *
 * @param act.release - gives one claim back
 * @returns how many; as many as the limit where there may be more
 * @throws DependencyUnavailableError
 */
export async function releaseAll(
  openClaims: OpenClaims,
  { relayer, now, limit }: ReleaseAll,
  release: (release: Release) => Promise<Transition>,
): Promise<number> {
  const claims = [...(await openClaims.read(0)).values()];
  const held = claims.filter((claim) => claim.relayer.toLowerCase() === relayer.toLowerCase());
  const releaseId = randomUUID();
  let count = 0;
  for (let at = 0; at < held.length && count < limit; ) {
    const slice = held.slice(at, at + Math.min(RELEASES_AT_ONCE, limit - count));
    at += slice.length;
    const transitions = await Promise.all(
      slice.map((claim) => release({ requestId: claim.requestId, relayer: claim.relayer, releaseId, now })),
    );
    count += transitions.filter(({ outcome }) => outcome === 'moved').length;
  }
  return count;
}

/** Reports under way at once. */
const REPORTS_AT_ONCE = 32;

/** Stands in for the params of records that no answer has room for: nothing is read. */
const noParams: Pick<ParamsReader, 'complete'> = {
  complete: async (heads) => heads.map(({ record }) => ({ ...record, paramsJson: '' })),
};

interface ReportBatch extends BatchBounds {
  readonly reports: readonly Report[];
  /** Makes one report; its record gets its params from the reader. */
  readonly report: (report: Report, params: Pick<ParamsReader, 'complete'>) => Promise<Transition>;
  readonly params: ParamsReader;
}

/**
 * Makes every report of a batch; records that have no more room in the answer are left out of it.
 *
 * @returns one a report, in their order
 * @throws DependencyUnavailableError
 */
export async function reportAll({ reports, report, params, maxParamsBytes }: ReportBatch) {
  const answers: BatchTransition[] = [];
  let bytes = 0;
  while (answers.length < reports.length) {
    const reader = bytes < maxParamsBytes ? params : noParams;
    const slice = reports.slice(answers.length, answers.length + REPORTS_AT_ONCE);
    const transitions = await Promise.all(slice.map((each) => report(each, reader)));
    for (const transition of transitions) {
      const isTooMuch = transition.outcome === 'moved' && bytes >= maxParamsBytes;
      if (transition.outcome === 'moved') bytes += paramsBytesOf(transition.record);
      answers.push(isTooMuch ? { outcome: 'moved' } : inBatch(transition));
    }
  }
  return answers;
}

const { from: REPORTABLE } = REQUEST_MOVES.report;

/** A move that only the owner of a claim may make. */
type OwnersMove = Omit<Move, 'condition' | 'values'> & {
  readonly relayer: string;
  /** A further condition. */
  readonly only?: string;
};

/** How a report is stored: its head expires with it, or once its params, which have an item of their own, were told. */
type Ending = 'with head' | 'params first';

/**
 * What an outcome is told by. A success enters the index of pending requests under a key of its own: what has ended has no other business
 * there, and one index more would have to be made on every table that there is.
 */
function outcomeAttributes(outcome: Report['outcome']): Item {
  if (outcome.status === 'failed') return { errorMessage: text(outcome.errorMessage) };
  const { txHash } = outcome;
  return { txHash: text(txHash), pendingShard: text(transactionKey(txHash)) };
}

function reportMove(table: RequestTable, report: Report, ending: Ending): OwnersMove {
  const { requestId, relayer, reportId, now, outcome } = report;
  const expiresAt = expiryOf(table.retentionDays, now);
  const attribute: Item = {
    ...(expiresAt !== undefined && ending === 'with head' && { [TTL_ATTRIBUTE]: number(expiresAt) }),
    ...(expiresAt !== undefined &&
      ending === 'params first' && { paramsExpireTo: number(expiresAt + PARAMS_OUTLIVE_SECONDS) }),
  };
  return {
    requestId: requestId.toLowerCase(),
    relayer,
    from: [REPORTABLE],
    to: outcome.status,
    callId: reportId,
    set: { ...outcomeAttributes(outcome), updatedAt: number(now), ...attribute },
    ...(TTL_ATTRIBUTE in attribute && { only: 'attribute_not_exists(paramsKey)' }),
  };
}

/**
 * Makes an owner's move. The condition compares the owner letter for letter; where only letter case differs, it is asked once more with
 * the letters of the claim.
 */
async function moveAsOwner(
  table: RequestTable,
  { relayer, only, ...move }: OwnersMove,
): Promise<ConditionalAnswer<UpdateItemCommandOutput>> {
  const moveAs = (owner: string) =>
    moveRequest(table, {
      ...move,
      condition: `#status = :held AND #claimedBy = :owner${only === undefined ? '' : ` AND ${only}`}`,
      values: { ':held': text(REPORTABLE), ':owner': text(owner) },
    });
  const answer = await moveAs(relayer);
  const owner = answer.done ? undefined : ownerInOtherCase(headOfAnswer(answer), relayer);
  return owner === undefined ? answer : await moveAs(owner);
}

const isOwner = (head: RequestHeader | undefined, relayer: string) =>
  head?.record.claimedBy?.toLowerCase() === relayer.toLowerCase();

/** The owner's address as the claim has it, where the report only writes its letters in another case. */
function ownerInOtherCase(head: RequestHeader | undefined, relayer: string): string | undefined {
  if (head?.record.status !== REPORTABLE) return undefined;
  const owner = head.record.claimedBy;
  return owner !== relayer && owner?.toLowerCase() === relayer.toLowerCase() ? owner : undefined;
}

/**
 * Reports how a request ended: its owner's `processing` becomes `success` or `failed`.
 *
 * @throws DependencyUnavailableError
 */
export async function reportRequest(
  table: RequestTable,
  params: Pick<ParamsReader, 'complete'>,
  report: Report,
): Promise<Transition> {
  let answer = await moveAsOwner(table, reportMove(table, report, 'with head'));
  let head = headOfAnswer(answer);
  const isHeld = head?.record.status === REPORTABLE && isOwner(head, report.relayer);
  if (!answer.done && isHeld && typeof head?.params === 'string') {
    answer = await moveAsOwner(table, reportMove(table, report, 'params first'));
    head = headOfAnswer(answer);
  }
  const transition = await transitionOf(table, params, answer, report.reportId);
  // The owner repeats, by another call, a report that could not be finished.
  if (head !== undefined && transition.outcome === 'conflict' && isOwner(head, report.relayer)) {
    await settleParams(table, head);
  }
  return transition;
}

/**
 * Gives a claim back: its owner's `processing` becomes `pending`, and nothing of the claim stays.
 *
 * @throws DependencyUnavailableError
 */
export async function releaseRequest(
  table: RequestTable,
  params: Pick<ParamsReader, 'complete'>,
  release: Release,
): Promise<Transition> {
  const { requestId, relayer, releaseId, now } = release;
  const { from, to } = REQUEST_MOVES.release;
  const move = { requestId: requestId.toLowerCase(), relayer, from: [from], to: to[0], callId: releaseId };
  const releasePosition = bytes(positionBytes(positionOf({ createdAt: now, requestId: move.requestId })));
  const set = { updatedAt: number(now), releasePosition };
  const copy = { pendingShard: 'chainShard', releasedChain: 'chainName' };
  const answer = await moveAsOwner(table, { ...move, set, copy, remove: ['claimedBy', 'claimedAt'] });
  return await transitionOf(table, params, answer, releaseId);
}
