import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { createSemaphore } from '@prism-gateway/runtime';
import type { RequestStore, StoredRequest } from '../../ports/requestStore.ts';
import { askStore } from './askStore.ts';
import { text } from './attributes.ts';
import { claimAll } from './claimAll.ts';
import { claimOldest } from './claimOldest.ts';
import { claimOrRenew, claimRequest } from './claimRequest.ts';
import { createRequest } from './createRequest.ts';
import { findOldest, listRequests } from './listRequests.ts';
import { createParamsReader, type ParamsReader } from './params.ts';
import { reportAll } from './reportAll.ts';
import { releaseRequest, reportRequest } from './reportRequest.ts';
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

/** Most writes of batches under way at once: fewer than the client has connections, so that single calls do not wait behind them. */
const MAX_BATCH_WRITES = 32;

/** The queue's records in DynamoDB. */
export function createRequestStore(table: RequestTable): RequestStore {
  const params = createParamsReader(table);
  const batches = createSemaphore(MAX_BATCH_WRITES);
  const get = (requestId: string) => getRequest(table, params, requestId.toLowerCase());
  return {
    create: (record, submission) => createRequest({ table, params, get }, record, submission),
    get,
    list: (query) => listRequests(table, params, query),
    claim: (claim) => claimRequest(table, params, claim),
    claimAll: (claims, bounds) =>
      claimAll(table, {
        claims,
        ...bounds,
        claim: (claim) => batches.run(() => claimOrRenew(table, params, claim)),
      }),
    claimOldest: (oldest) =>
      claimOldest(table, params, { oldest, claim: (one) => batches.run(() => claimRequest(table, params, one)) }),
    report: (report) => reportRequest(table, params, report),
    reportAll: (reports, bounds) =>
      reportAll({
        reports,
        params,
        ...bounds,
        report: (report, reader) => batches.run(() => reportRequest(table, reader, report)),
      }),
    release: (release) => releaseRequest(table, params, release),
    async stats() {
      const oldestPendingAt = await findOldest(table, 'pending');
      return oldestPendingAt === undefined ? {} : { oldestPendingAt };
    },
  };
}
