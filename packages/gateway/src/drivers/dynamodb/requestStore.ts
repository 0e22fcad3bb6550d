import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { createSemaphore } from '@prism-gateway/runtime';
import type {
  Claim,
  ClaimTransition,
  Creation,
  Release,
  RequestStore,
  StoredRequest,
  Submission,
  Transition,
} from '../../ports/requestStore.ts';
import { askStore } from './askStore.ts';
import { text } from './attributes.ts';
import { claimAll, claimOldest, claimOrRenew, claimRequest } from './claimRequest.ts';
import { createRequest } from './createRequest.ts';
import type { WatchedChanges } from './createRequestChanges.ts';
import { feedRequests } from './feedRequests.ts';
import { findOldest, listRequests } from './listRequests.ts';
import { settleParams } from './moveRequest.ts';
import { createOpenClaims } from './openClaims.ts';
import { createParamsReader, type ParamsReader } from './params.ts';
import { releaseAll, releaseRequest, reportAll, reportRequest } from './reportRequest.ts';
import { isExpired, type RequestTable, readHead } from './requestItem.ts';

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
  // Whoever reads it finishes what another process has left undone; if not now, then at the next read.
  await settleParams(table, head).catch(() => undefined);
  const [record] = await params.complete([head]);
  return record;
}

/** Most writes of batches under way at once: fewer than the client has connections, so that single calls do not wait behind them. */
const MAX_BATCH_WRITES = 32;

/** Who is told what the store has moved. */
export interface MoveListener extends Pick<WatchedChanges, 'tell'> {
  /** Told of each release that is part of a release of all that a relayer holds. */
  readonly released: (release: Release, transition: Transition) => void;
}

/** The queue's records in DynamoDB. */
export function createRequestStore(table: RequestTable, changes: MoveListener): RequestStore {
  const params = createParamsReader(table);
  const openClaims = createOpenClaims(table);
  const context = { table, params, openClaims };
  const batches = createSemaphore(MAX_BATCH_WRITES);
  const get = (requestId: string) => getRequest(table, params, requestId.toLowerCase());

  async function create(record: StoredRequest, submission: Submission | undefined): Promise<Creation> {
    const creation = await createRequest({ table, params, get }, record, submission);
    if (creation.outcome === 'created') changes.tell(record);
    return creation;
  }
  async function claimBy(claim: typeof claimRequest, one: Claim): Promise<ClaimTransition> {
    const known = await claim(context, one);
    if (known.outcome === 'moved') changes.tell(known.record);
    return known;
  }
  /** Notes that a claim has ended, if it has. */
  async function ended(transition: Promise<Transition>): Promise<Transition> {
    const known = await transition;
    if (known.outcome === 'moved') {
      openClaims.ended(known.record.requestId);
      changes.tell(known.record);
    }
    return known;
  }
  const release = (one: Release) => ended(releaseRequest(table, params, one));
  async function releaseOfAll(one: Release): Promise<Transition> {
    const transition = await release(one);
    changes.released(one, transition);
    return transition;
  }

  return {
    create,
    get,
    list: (query) => listRequests(table, params, query),
    claim: (claim) => claimBy(claimRequest, claim),
    claimAll: (claims, bounds) =>
      claimAll(table, { claims, ...bounds, claim: (claim) => batches.run(() => claimBy(claimOrRenew, claim)) }),
    claimOldest: (oldest) =>
      claimOldest(table, params, { oldest, claim: (claim) => batches.run(() => claimBy(claimRequest, claim)) }),
    report: (report) => ended(reportRequest(table, params, report)),
    reportAll: (reports, bounds) =>
      reportAll({
        reports,
        params,
        ...bounds,
        report: (report, reader) => batches.run(() => ended(reportRequest(table, reader, report))),
      }),
    release,
    releaseAll: (all) => releaseAll(openClaims, all, (one) => batches.run(() => releaseOfAll(one))),
    feed: (query) => feedRequests(context, query),
    async stats() {
      const oldestPendingAt = await findOldest(table, { status: 'pending' });
      return oldestPendingAt === undefined ? {} : { oldestPendingAt };
    },
  };
}
