import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { StoredRequest } from '../../ports/requestStore.ts';
import { askConditionally, askStore } from './askStore.ts';
import { readText } from './attributes.ts';
import type { ParamsReader } from './params.ts';
import { packParams } from './params.ts';
import { createItems } from './requestItem.ts';
import type { RequestTable } from './requestTable.ts';

/**
 * Stores a new request. Params with an item of their own are written first: a head is whole from the moment it is there. If the
 * process dies in between, params without a head are left, which nothing shows.
 *
 * @throws DependencyUnavailableError
 */
export async function createRequest(table: RequestTable, params: ParamsReader, record: StoredRequest): Promise<void> {
  const { client, name: TableName } = table;
  const packed = await packParams(record.paramsJson);
  const items = createItems(record, packed, table);
  const paramsItem = items.params;
  if (paramsItem !== undefined) {
    await askStore(() => client.send(new PutItemCommand({ TableName, Item: paramsItem })));
    params.keep(readText(paramsItem, 'requestId'), packed);
  }
  // Refused: it is there already, by an earlier try of this call.
  await askConditionally(() =>
    client.send(
      new PutItemCommand({ TableName, Item: items.head, ConditionExpression: 'attribute_not_exists(requestId)' }),
    ),
  );
}
