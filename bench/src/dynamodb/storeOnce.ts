/** An item in DynamoDB's own JSON. */
type RawItem = Readonly<Record<string, unknown>>;

/** Local engines want these headers, and check nothing of them but the account they name: the gateway's own there. */
const signatureHeaders = {
  authorization:
    'AWS4-HMAC-SHA256 Credential=local/20270101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
  'x-amz-date': '20270101T000000Z',
};

async function call(endpoint: string, operation: string, input: object): Promise<Record<string, unknown>> {
  const answer = await fetch(endpoint, {
    method: 'POST',
    headers: {
      ...signatureHeaders,
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDB_20120810.${operation}`,
    },
    body: JSON.stringify(input),
  });
  const body = await answer.text();
  if (!answer.ok) throw new Error(`${operation}: ${answer.status} ${body.slice(0, 200)}`);
  return JSON.parse(body) as Record<string, unknown>;
}

async function getItem(endpoint: string, table: string, requestId: unknown): Promise<RawItem> {
  const { Item } = await call(endpoint, 'GetItem', { TableName: table, Key: { requestId }, ConsistentRead: true });
  return Item as RawItem;
}

/**
 * Stores a request that is there once more, as one item with all it has, in the same table with the same indexes: what storing it
 * once costs, the baseline of a whole life.
 *
 * @param endpoint the engine's own address
 * @param table name of the requests' table
 * @param requestId of a request that has just been created
 * @returns write units
 */
export async function storeOnce(endpoint: string, table: string, requestId: string): Promise<number> {
  const { paramsKey, ...head } = await getItem(endpoint, table, { S: requestId });
  const { params } = paramsKey === undefined ? head : await getItem(endpoint, table, paramsKey);
  const Item = { ...head, params, requestId: { S: `${requestId.slice(0, -4)}0000` } };
  const input = { TableName: table, Item, ReturnConsumedCapacity: 'INDEXES' };
  const { ConsumedCapacity } = await call(endpoint, 'PutItem', input);
  return (ConsumedCapacity as { readonly CapacityUnits: number }).CapacityUnits;
}
