import type { UpdateItemCommandOutput } from '@aws-sdk/client-dynamodb';
import { REQUEST_MOVES } from '@prism-gateway/protocol';
import type { Release, Report, Transition } from '../../ports/requestStore.ts';
import type { ConditionalAnswer } from './askStore.ts';
import { bytes, type Item, number, text } from './attributes.ts';
import { headOfAnswer, type Move, moveRequest, transitionOf } from './moveRequest.ts';
import type { ParamsReader } from './params.ts';
import { positionBytes, positionOf } from './position.ts';
import { PARAMS_OUTLIVE_SECONDS, type RequestHeader, transactionKey } from './requestItem.ts';
import { expiryOf, type RequestTable } from './requestTable.ts';
import { settleParams } from './settleParams.ts';
import { TTL_ATTRIBUTE } from './tables.ts';

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
