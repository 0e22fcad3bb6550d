import { GetItemCommand, UpdateItemCommand, type UpdateItemCommandOutput } from '@aws-sdk/client-dynamodb';
import { isStatusMove, type RequestStatus } from '@prism-gateway/protocol';
import type { Transition } from '../../ports/requestStore.ts';
import { askConditionally, askStore, type ConditionalAnswer } from './askStore.ts';
import { bytes, type Item, number, readNumber, text } from './attributes.ts';
import type { ParamsReader } from './params.ts';
import {
  callMarkOf,
  isExpired,
  PARAMS_OUTLIVE_SECONDS,
  type RequestHeader,
  type RequestTable,
  readHead,
  statusAttributes,
} from './requestItem.ts';
import { TTL_ATTRIBUTE } from './tables.ts';

/** Tries to change params that another process changes, too. */
const MAX_TRIES = 4;

/** What must become of params; `at` is absent where they are to stay. */
interface Change {
  readonly at?: number;
}

/**
 * Tells what is still to be done so that params with an item of their own live as long as their head. A head is moved first, and holds
 * what its params were told last, so that whoever meets it can finish what another process began:
 *
 *     pending     head and params expire
 *     claimed     the head stays; params that were told to expire must stay, too
 *     reported    `paramsExpireTo` names when params go; only then is the head told, so that it never leaves them behind
 */
function changeOf({ paramsExpireTo, paramsExpireAt, expiresAt }: RequestHeader): Change | undefined {
  if (paramsExpireTo !== undefined) return { at: paramsExpireTo };
  return paramsExpireAt !== undefined && expiresAt === undefined ? {} : undefined;
}

/** Tells params when they expire, if they were told `from` last. @returns what they were told meanwhile, or the change itself */
async function tellParams(
  { client, name: TableName }: RequestTable,
  paramsKey: string,
  { from, to }: { readonly from: Change; readonly to: Change },
): Promise<Change> {
  const command = new UpdateItemCommand({
    TableName,
    Key: { requestId: text(paramsKey) },
    UpdateExpression: to.at === undefined ? 'REMOVE #expiresAt' : 'SET #expiresAt = :to',
    ConditionExpression: `attribute_exists(requestId) AND ${
      from.at === undefined ? 'attribute_not_exists(#expiresAt)' : '#expiresAt = :from'
    }`,
    ExpressionAttributeNames: { '#expiresAt': TTL_ATTRIBUTE },
    ...((from.at ?? to.at) !== undefined && {
      ExpressionAttributeValues: {
        ...(from.at !== undefined && { ':from': number(from.at) }),
        ...(to.at !== undefined && { ':to': number(to.at) }),
      },
    }),
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
  const answer = await askConditionally(() => client.send(command));
  // Without params there is nothing to tell.
  if (answer.done || answer.item === undefined) return to;
  return answer.item[TTL_ATTRIBUTE] === undefined ? {} : { at: readNumber(answer.item, TTL_ATTRIBUTE) };
}

/** Whether nobody has moved a request since. */
async function isUnmoved({ client, name: TableName }: RequestTable, head: RequestHeader): Promise<boolean> {
  const Key = { requestId: text(head.record.requestId) };
  const { Item: item } = await askStore(() =>
    client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true })),
  );
  const now = item === undefined ? undefined : readHead(item);
  return now?.callMark !== undefined && Buffer.compare(now.callMark, head.callMark ?? new Uint8Array()) === 0;
}

/** Notes on the head what its params were told, and lets it expire with them, unless it has been moved since. */
async function tellHead({ client, name: TableName }: RequestTable, head: RequestHeader, { at }: Change): Promise<void> {
  const values: Item = { ':mark': bytes(head.callMark ?? new Uint8Array()) };
  const told = {
    UpdateExpression: 'SET paramsExpireAt = :at, #expiresAt = :own REMOVE paramsExpireTo',
    ExpressionAttributeNames: { '#expiresAt': TTL_ATTRIBUTE },
    ExpressionAttributeValues: {
      ...values,
      ...(at !== undefined && { ':at': number(at), ':own': number(at - PARAMS_OUTLIVE_SECONDS) }),
    },
  };
  const kept = { UpdateExpression: 'REMOVE paramsExpireAt', ExpressionAttributeValues: values };
  const command = new UpdateItemCommand({
    TableName,
    Key: { requestId: text(head.record.requestId) },
    ConditionExpression: 'callMark = :mark',
    ...(at === undefined ? kept : told),
  });
  await askConditionally(() => client.send(command));
}

/**
 * Makes params with an item of their own live as long as their head. Of processes that do so at once the one whose move stands decides.
 *
 * @param head - as a move left it, or as it was read
 * @throws DependencyUnavailableError: it is to be done again, by repeating the move or by reading the request
 * @see docs/specification.md DYNAMO-2
 */
export async function settleParams(table: RequestTable, head: RequestHeader): Promise<void> {
  const to = changeOf(head);
  if (to === undefined || typeof head.params !== 'string') return;
  let from: Change = { ...(head.paramsExpireAt !== undefined && { at: head.paramsExpireAt }) };
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const told = await tellParams(table, head.params, { from, to });
    if (told.at === to.at) return await tellHead(table, head, to);
    if (!(await isUnmoved(table, head))) return;
    from = told;
  }
}

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
