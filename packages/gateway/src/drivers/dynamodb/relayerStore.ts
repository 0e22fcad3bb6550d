import {
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  paginateScan,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import type { RelayerRecord, RelayerStore } from '../../ports/relayerStore.ts';
import { askConditionally, askStore } from './askStore.ts';
import { type Item, number, readNumber, readText, text } from './attributes.ts';

/** The key is in lower case, so that letter case tells no relayers apart. */
const keyOf = (address: string) => ({ address: text(address.toLowerCase()) });

function relayerOfItem(item: Item): RelayerRecord {
  return {
    address: readText(item, 'checksumAddress'),
    ...(item.label !== undefined && { label: readText(item, 'label') }),
    createdAt: readNumber(item, 'createdAt'),
    updatedAt: readNumber(item, 'updatedAt'),
    ...(item.suspendedAt !== undefined && {
      suspendedAt: readNumber(item, 'suspendedAt'),
      suspendReason: readText(item, 'suspendReason'),
    }),
  };
}

function byAge(a: RelayerRecord, b: RelayerRecord): number {
  return a.createdAt - b.createdAt || (a.address < b.address ? -1 : 1);
}

function putCommand(TableName: string, { address, label, now }: Parameters<RelayerStore['put']>[0]): UpdateItemCommand {
  const set = 'SET checksumAddress = :address, updatedAt = :now, createdAt = if_not_exists(createdAt, :now)';
  return new UpdateItemCommand({
    TableName,
    Key: keyOf(address),
    UpdateExpression: label === undefined ? `${set} REMOVE #label` : `${set}, #label = :label`,
    ExpressionAttributeNames: { '#label': 'label' },
    ExpressionAttributeValues: {
      ':address': text(address),
      ':now': number(now),
      ...(label !== undefined && { ':label': text(label) }),
    },
    ReturnValues: 'ALL_NEW',
  });
}

type ChangeOfKnown = Pick<UpdateItemCommandInput, 'UpdateExpression' | 'ConditionExpression'> & {
  readonly values: Item;
};

const SUSPENSION = 'SET suspendReason = :reason, updatedAt = :now, suspendedAt = if_not_exists(suspendedAt, :now)';
const RESUMPTION = 'SET updatedAt = :now REMOVE suspendedAt, suspendReason';

/** Changes a relayer where the condition holds. @returns the relayer as it then stands; undefined: there is none */
async function changeKnown(
  { client, TableName }: { readonly client: DynamoDBClient; readonly TableName: string },
  address: string,
  { values, ...expressions }: ChangeOfKnown,
): Promise<RelayerRecord | undefined> {
  const command = new UpdateItemCommand({
    TableName,
    Key: keyOf(address),
    ...expressions,
    ExpressionAttributeValues: values,
    ReturnValues: 'ALL_NEW',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
  const answer = await askConditionally(() => client.send(command));
  const item = answer.done ? answer.output.Attributes : answer.item;
  return item === undefined ? undefined : relayerOfItem(item);
}

/**
 * The whitelist in DynamoDB. Nothing of it is kept in memory: a relayer that is removed has lost its access when the call
 * returns.
 */
export function createRelayerStore(client: DynamoDBClient, TableName: string): RelayerStore {
  return {
    async put(relayer) {
      return await askStore(async () => {
        const { Attributes } = await client.send(putCommand(TableName, relayer));
        return relayerOfItem(Attributes ?? {});
      });
    },
    async remove(address) {
      await askStore(() => client.send(new DeleteItemCommand({ TableName, Key: keyOf(address) })));
    },
    async find(address) {
      const command = new GetItemCommand({ TableName, Key: keyOf(address), ConsistentRead: true });
      const { Item: item } = await askStore(() => client.send(command));
      return item === undefined ? undefined : relayerOfItem(item);
    },
    suspend: ({ address, reason, now }) =>
      changeKnown({ client, TableName }, address, {
        UpdateExpression: SUSPENSION,
        ConditionExpression: 'attribute_exists(address)',
        values: { ':reason': text(reason), ':now': number(now) },
      }),
    resume: ({ address, now }) =>
      changeKnown({ client, TableName }, address, {
        UpdateExpression: RESUMPTION,
        ConditionExpression: 'attribute_exists(suspendedAt)',
        values: { ':now': number(now) },
      }),
    async list() {
      return await askStore(async () => {
        const relayers: RelayerRecord[] = [];
        for await (const page of paginateScan({ client }, { TableName, ConsistentRead: true })) {
          relayers.push(...(page.Items ?? []).map(relayerOfItem));
        }
        return relayers.sort(byAge);
      });
    },
  };
}
