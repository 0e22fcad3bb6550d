import { UpdateItemCommand, type UpdateItemCommandOutput } from '@aws-sdk/client-dynamodb';
import { REQUEST_MOVES } from '@prism-gateway/protocol';
import type { Release, Report, Transition } from '../../ports/requestStore.ts';
import { askStore, type ConditionalAnswer } from './askStore.ts';
import { bytes, type Item, number, text } from './attributes.ts';
import { headOfAnswer, type Move, moveRequest, transitionOf } from './moveRequest.ts';
import type { ParamsReader } from './params.ts';
import { positionBytes, positionOf } from './position.ts';
import type { Head } from './requestItem.ts';
import type { RequestTable } from './requestTable.ts';
import { TTL_ATTRIBUTE } from './tables.ts';

const { from: REPORTABLE } = REQUEST_MOVES.report;
const MS_PER_SECOND = 1000;
const SECONDS_PER_DAY = 86_400;

/** When a request that is finished now expires. */
function expiry({ retentionDays }: RequestTable, now: number): Item {
  if (retentionDays === 0) return {};
  return { [TTL_ATTRIBUTE]: number(Math.floor(now / MS_PER_SECOND) + retentionDays * SECONDS_PER_DAY) };
}

/** A move that only the owner of a claim may make. */
type OwnersMove = Omit<Move, 'condition' | 'values'> & { readonly relayer: string };

function reportMove(table: RequestTable, { requestId, relayer, reportId, now, outcome }: Report): OwnersMove {
  const told =
    outcome.status === 'success' ? { txHash: text(outcome.txHash) } : { errorMessage: text(outcome.errorMessage) };
  const set = { ...told, updatedAt: number(now), ...expiry(table, now) };
  return { requestId: requestId.toLowerCase(), relayer, from: [REPORTABLE], to: outcome.status, callId: reportId, set };
}

/**
 * Makes an owner's move. The condition compares the owner letter for letter; where only letter case differs, it is asked once more with
 * the letters of the claim.
 */
async function moveAsOwner(
  table: RequestTable,
  { relayer, ...move }: OwnersMove,
): Promise<ConditionalAnswer<UpdateItemCommandOutput>> {
  const moveAs = (owner: string) =>
    moveRequest(table, {
      ...move,
      condition: '#status = :held AND #claimedBy = :owner',
      values: { ':held': text(REPORTABLE), ':owner': text(owner) },
    });
  const answer = await moveAs(relayer);
  const owner = answer.done ? undefined : ownerInOtherCase(headOfAnswer(answer), relayer);
  return owner === undefined ? answer : await moveAs(owner);
}

const isOwner = (head: Head | undefined, relayer: string) =>
  head?.record.claimedBy?.toLowerCase() === relayer.toLowerCase();

/** The owner's address as the claim has it, where the report only writes its letters in another case. */
function ownerInOtherCase(head: Head | undefined, relayer: string): string | undefined {
  if (head?.record.status !== REPORTABLE) return undefined;
  const owner = head.record.claimedBy;
  return owner !== relayer && owner?.toLowerCase() === relayer.toLowerCase() ? owner : undefined;
}

/**
 * Lets params with an item of their own expire with their head. This writes them once more, the price of letting them expire;
 * where it fails they stay, until the owner repeats its report.
 */
async function expireParams(table: RequestTable, head: Head | undefined): Promise<void> {
  if (typeof head?.params !== 'string' || head.expiresAt === undefined) return;
  const { client, name } = table;
  const command = new UpdateItemCommand({
    TableName: name,
    Key: { requestId: text(head.params) },
    UpdateExpression: 'SET #expiresAt = :expiresAt',
    ConditionExpression: 'attribute_exists(requestId)',
    ExpressionAttributeNames: { '#expiresAt': TTL_ATTRIBUTE },
    ExpressionAttributeValues: { ':expiresAt': number(head.expiresAt) },
  });
  await askStore(() => client.send(command)).catch(() => undefined);
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
  const answer = await moveAsOwner(table, reportMove(table, report));
  const head = headOfAnswer(answer);
  if (answer.done || isOwner(head, report.relayer)) await expireParams(table, head);
  return await transitionOf(table, params, answer, report.reportId);
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
