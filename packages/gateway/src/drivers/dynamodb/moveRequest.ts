import { UpdateItemCommand, type UpdateItemCommandOutput } from '@aws-sdk/client-dynamodb';
import { isStatusMove, type RequestStatus } from '@prism-gateway/protocol';
import type { Transition } from '../../ports/requestStore.ts';
import { askConditionally, type ConditionalAnswer } from './askStore.ts';
import { bytes, type Item, text } from './attributes.ts';
import type { ParamsReader } from './params.ts';
import { callMarkOf, isExpired, type RequestHeader, readHead, statusAttributes } from './requestItem.ts';
import type { RequestTable } from './requestTable.ts';
import { settleParams } from './settleParams.ts';
import { TTL_ATTRIBUTE } from './tables.ts';

/** A conditional write that moves a request to a status. */
export interface Move {
  /** In lower case. */
  readonly requestId: string;
  /** Where the condition lets it come from: states of the table of moves. */
  readonly from: readonly RequestStatus[];
  readonly to: RequestStatus;
  /** The id of the call; its mark is stored, and tells a repetition from a rival. */
  readonly callId: string;
  /** What is stored besides. */
  readonly set: Item;
  /** Attributes that become what another one is. */
  readonly copy?: Readonly<Record<string, string>>;
  /** Attributes that go. */
  readonly remove?: readonly string[];
  /** The condition, over `#status` and the names and values that follow. */
  readonly condition: string;
  readonly values: Item;
}

/** Names that conditions may use, whatever is set. */
const CONDITION_NAMES = ['claimedBy', 'claimedAt', TTL_ATTRIBUTE] as const;

/** A write of the named attributes, as `UpdateItem` wants it: every name and value by a placeholder. */
function assignments(set: Item, { copy = {}, remove = [], condition }: Pick<Move, 'copy' | 'remove' | 'condition'>) {
  const names = Object.keys(set);
  const copies = Object.entries(copy);
  const settings = [
    ...names.map((name) => `#${name} = :${name}`),
    ...copies.map(([name, source]) => `#${name} = #${source}`),
  ];
  const removal = remove.length === 0 ? '' : ` REMOVE ${remove.map((name) => `#${name}`).join(', ')}`;
  const inCondition = CONDITION_NAMES.filter((name) => condition.includes(`#${name}`));
  const named = [...names, ...copies.flat(), ...remove, ...inCondition];
  return {
    UpdateExpression: `SET ${settings.join(', ')}${removal}`,
    ExpressionAttributeNames: Object.fromEntries(named.map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: Object.fromEntries(Object.entries(set).map(([name, value]) => [`:${name}`, value])),
  };
}

/**
 * Moves a request by one conditional write. It costs the same for any params: only the head is written.
 *
 * @returns done with the head after the move, or refused with the head as it stands
 * @throws DependencyUnavailableError
 */
export async function moveRequest(
  { client, name, shards }: RequestTable,
  move: Move,
): Promise<ConditionalAnswer<UpdateItemCommandOutput>> {
  const { requestId, from, to, callId, set, condition, values } = move;
  if (!from.every((status) => isStatusMove(status, to)))
    throw new Error(`A request may not move from ${from} to ${to}.`);
  const all = { ...set, ...statusAttributes(to, requestId, shards), callMark: bytes(callMarkOf(callId)) };
  const update = assignments(all, move);
  return await askConditionally(() =>
    client.send(
      new UpdateItemCommand({
        TableName: name,
        Key: { requestId: text(requestId) },
        ...update,
        ExpressionAttributeValues: { ...update.ExpressionAttributeValues, ...values },
        ConditionExpression: condition,
        ReturnValues: 'ALL_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    ),
  );
}

/** The head that a move left or found; undefined where there is none. */
export function headOfAnswer(answer: ConditionalAnswer<UpdateItemCommandOutput>): RequestHeader | undefined {
  const item = answer.done ? answer.output.Attributes : answer.item;
  return item === undefined ? undefined : readHead(item);
}

/**
 * Tells what a move did, once the params live as long as their head. Refused with the call's own mark in the head, it was this call that moved the request, at a try of which
 * the answer was lost.
 *
 * @throws DependencyUnavailableError
 */
export async function transitionOf(
  table: RequestTable,
  params: Pick<ParamsReader, 'complete'>,
  answer: ConditionalAnswer<UpdateItemCommandOutput>,
  callId: string,
): Promise<Transition> {
  const head = headOfAnswer(answer);
  if (head === undefined || (!answer.done && isExpired(head, table.now()))) return { outcome: 'missing' };
  const isOwn = answer.done || Buffer.compare(callMarkOf(callId), head.callMark ?? new Uint8Array()) === 0;
  if (isOwn) await settleParams(table, head);
  const [record] = await params.complete([head]);
  if (record === undefined) return { outcome: 'missing' };
  return { outcome: isOwn ? 'moved' : 'conflict', record };
}
