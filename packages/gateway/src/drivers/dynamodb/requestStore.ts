import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { RequestStore, StoredRequest } from '../../ports/requestStore.ts';
import { askStore } from './askStore.ts';
import { text } from './attributes.ts';
import { claimRequest } from './claimRequest.ts';
import { createRequest } from './createRequest.ts';
import { findOldestPending, listRequests } from './listRequests.ts';
import { createParamsReader, type ParamsReader } from './params.ts';
import { reportRequest } from './reportRequest.ts';
import { isExpired, readHead } from './requestItem.ts';
import type { RequestTable } from './requestTable.ts';

async function getRequest(
  table: RequestTable,
  params: ParamsReader,
  requestId: string,
): Promise<StoredRequest | undefined> {
  const { client, name: TableName } = table;
  const command = new GetItemCommand({ TableName, Key: { requestId: text(requestId) }, ConsistentRead: true });
  const { Item: item } = await askStore(() => client.send(command));
  if (item === undefined) return undefined;
  const head = readHead(item);
  if (isExpired(head, table.now())) return undefined;
  const [record] = await params.complete([head]);
  return record;
}

/** The queue's records in DynamoDB. */
export function createRequestStore(table: RequestTable): RequestStore {
  const params = createParamsReader(table);
  return {
    create: (record) => createRequest(table, params, record),
    get: (requestId) => getRequest(table, params, requestId.toLowerCase()),
    list: (query) => listRequests(table, params, query),
    claim: (claim) => claimRequest(table, params, claim),
    report: (report) => reportRequest(table, params, report),
    async stats() {
      const oldestPendingAt = await findOldestPending(table);
      return oldestPendingAt === undefined ? {} : { oldestPendingAt };
    },
  };
}
