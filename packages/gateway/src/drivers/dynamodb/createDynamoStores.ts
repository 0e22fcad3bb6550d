import { type DynamoDBClient, ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { createSemaphore } from '@prism-gateway/node';
import { INITIAL_STATUS } from '@prism-gateway/protocol';
import type { AdminStore } from '../../ports/adminStore.ts';
import { createWatchers } from '../../ports/createWatchers.ts';
import { DependencyUnavailableError } from '../../ports/errors.ts';
import type { RateLimitStore } from '../../ports/rateLimitStore.ts';
import type { RelayerStore } from '../../ports/relayerStore.ts';
import type { RequestChanges } from '../../ports/requestChanges.ts';
import type {
  ClaimTransition,
  Creation,
  Release,
  RequestStore,
  StoredRequest,
  Submission,
  Transition,
} from '../../ports/requestStore.ts';
import { createAdminStore, createRelayerStore } from './admin.ts';
import { claimItem, claimOrRenew } from './claim.ts';
import { createRequest } from './create.ts';
import { feedRequests } from './feed.ts';
import { type Item, readItem, readItems, type Table } from './items.ts';
import { findOldest, listRequests } from './list.ts';
import { moveAll, noParams } from './move.ts';
import { createOpenClaims } from './openClaims.ts';
import { createParamsReader, type ParamsReader } from './params.ts';
import { createRateLimitStore } from './rateLimitStore.ts';
import { headOf, isExpired, type RequestTable } from './record.ts';
import { createConflictCounter } from './recordStats.ts';
import { releaseAll, releaseRequest, reportRequest } from './report.ts';
import { createTableRegister } from './tableRegister.ts';
import type { TableNames } from './tables.ts';

async function getRequest(
  table: RequestTable,
  params: ParamsReader,
  requestId: string,
): Promise<StoredRequest | undefined> {
  const head = headOf(await readItem(table, { requestId: requestId }));
  if (head === undefined || isExpired(head, table.now())) return undefined;
  return (await params.complete([head]))[0];
}

/** How often those who wait look again, in milliseconds: for what other processes have moved, and what reaches an index late. */
const LOOK_MS = 2000;

/** Watches of this process, and what its own calls announce to them. */
interface WatchedChanges extends RequestChanges {
  /** Announces at once that this process has moved a request, or stored it. */
  notify(request: Pick<StoredRequest, 'requestId' | 'chainName' | 'status'>): void;
  /** Announces at once that this process has removed a request. */
  removed(requestId: string): void;
  /** Ends the looks. */
  close(): void;
}

/** Announces what this process moves at once, and what others move after a look at the table, which is made only while somebody waits. */
function createRequestChanges(table: Table): WatchedChanges {
  const watchers = createWatchers();
  let timer: NodeJS.Timeout | undefined;

  async function look(): Promise<void> {
    const items = await readItems(table, watchers.requestIds(), { consistent: false });
    watchers.lookUp((requestId) => items.get(requestId)?.status as string | undefined);
  }

  function lookLater(): void {
    timer ??= setTimeout(async () => {
      // A look that fails says nothing: who waits reads for itself in the end.
      await look().catch(() => undefined);
      timer = undefined;
      if (!watchers.isEmpty()) lookLater();
    }, LOOK_MS).unref();
  }

  return {
    watch(interest, onChange) {
      const unwatch = watchers.watch(interest, onChange);
      lookLater();
      return unwatch;
    },
    notify({ requestId, chainName, status }) {
      watchers.moved(requestId);
      if (status === INITIAL_STATUS) watchers.appeared(chainName);
    },
    removed: watchers.moved,
    close: () => clearTimeout(timer),
  };
}

/** Most writes of batches under way at once: fewer than the client has connections, so that single calls do not wait behind them. */
const MAX_BATCH_WRITES = 32;

/** Who is notified of what the store has moved. */
interface MoveListener extends Pick<WatchedChanges, 'notify'> {
  /** Called with each claim that its relayer has lost to a rival. */
  readonly conflict: (relayer: string) => void;
}

/** The queue's records in DynamoDB. */
function createRequestStore(table: RequestTable, changes: MoveListener): RequestStore {
  const params = createParamsReader(table);
  const openClaims = createOpenClaims(table);
  const context = { table, params, openClaims };
  const batches = createSemaphore(MAX_BATCH_WRITES);
  const get = (requestId: string) => getRequest(table, params, requestId.toLowerCase());

  async function create(record: StoredRequest, submission: Submission | undefined): Promise<Creation> {
    const creation = await createRequest({ table, params, get }, record, submission);
    if (creation.outcome === 'created') changes.notify(record);
    return creation;
  }
  async function recordClaim(relayer: string, claim: Promise<ClaimTransition>): Promise<ClaimTransition> {
    const known = await claim;
    if (known.outcome === 'moved') changes.notify(known.record);
    if (known.outcome === 'conflict') changes.conflict(relayer);
    return known;
  }
  /** Notes that a claim has ended, if it has. */
  async function ended(transition: Promise<Transition>): Promise<Transition> {
    const known = await transition;
    if (known.outcome === 'moved') {
      openClaims.ended(known.record.requestId);
      changes.notify(known.record);
    }
    return known;
  }
  const release = (one: Release) => ended(releaseRequest(table, params, { ...one, kind: 'release' }));

  return {
    create,
    get,
    list: (query) => listRequests(context, query),
    claim: (claim) => recordClaim(claim.relayer, claimItem(context, claim)),
    claimAll: (claims) =>
      moveAll(claims, (claim) =>
        batches.run(() => recordClaim(claim.relayer, claimOrRenew({ ...context, params: noParams }, claim))),
      ),
    report: (report) => ended(reportRequest(table, params, report)),
    reportAll: (reports) =>
      moveAll(reports, (report) => batches.run(() => ended(reportRequest(table, noParams, report)))),
    release,
    reopen: (one) => ended(releaseRequest(table, params, { ...one, kind: 'reopen' })),
    releaseAll: (all) => releaseAll(openClaims, all, (one) => batches.run(() => release(one))),
    feed: (query) => feedRequests(context, query),
    async stats() {
      const oldestPendingAt = await findOldest(table, { status: 'pending' });
      return oldestPendingAt === undefined ? {} : { oldestPendingAt };
    },
  };
}

export interface DynamoStoresOptions {
  /** As `createDynamoClient` makes it. */
  readonly client: DynamoDBClient;
  readonly tables: TableNames;
  /** Name of the table of webhooks' deliveries, which holds the stats too. */
  readonly deliveriesTable: string;
  /** The only chains that requests are taken for; absent or none: any. */
  readonly chains?: readonly string[];
  /** Partitions that requests of one status are spread over; it may grow, never shrink. */
  readonly indexShards: number;
  /** Days after which finished requests expire; 0: never. */
  readonly requestRetentionDays: number;
  /** Days after which requests expire that nobody has claimed; 0: never. */
  readonly pendingRetentionDays: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface DynamoStores {
  readonly requests: RequestStore;
  readonly changes: RequestChanges;
  readonly relayers: RelayerStore;
  readonly admin: AdminStore;
  readonly rateLimits: RateLimitStore;
  /**
   * Checks, before the first call, that the tables are there, and that of the requests for this process. What does not answer is left to
   * the first call.
   *
   * @throws TableLayoutError, TablesMissingError
   */
  prepare(): Promise<void>;
  /** Resolves when all tables answer. @throws DependencyUnavailableError, TableLayoutError */
  checkReady(): Promise<void>;
  /** Closes the connections. */
  close(): Promise<void>;
}

/** Has every call wait until the table is known to be for this process. */
function behindGate(store: RequestStore, pass: () => Promise<void>): RequestStore {
  const waiting = Object.entries(store).map(([name, call]) => {
    return [
      name,
      async (...args: readonly unknown[]) => {
        await pass();
        return await call(...args);
      },
    ];
  });
  // The same names, with functions that take and return the same.
  return Object.fromEntries(waiting) as RequestStore;
}

/** Tables that are not there: nothing would go well before somebody has made them. */
class TablesMissingError extends Error {
  override readonly name = 'TablesMissingError';
  readonly code = 'TABLES_MISSING';

  constructor(names: readonly string[]) {
    const them = names.length === 1 ? 'it' : 'them';
    const [missing, makes] = [names.join(', '), 'npx prism create-tables makes'];
    super(`DynamoDB has no table ${missing}: ${makes} ${them}, with the same settings.`);
  }
}

/** Keys that no item has, one of each table. */
const PROBES = {
  requests: { requestId: 'ready' },
  relayers: { address: 'ready' },
  rateLimits: { client: 'ready', window: 0 },
  deliveries: { lane: 'ready', place: 'ready' },
} as const satisfies Record<keyof TableNames | 'deliveries', Item>;

/** How long conflicts are counted before they are written, in milliseconds. */
const CONFLICTS_MS = 10_000;

/** Makes the stores on DynamoDB; the tables are there already. @returns stores that hold connections until they are closed */
export function createDynamoStores(options: DynamoStoresOptions): DynamoStores {
  const {
    client,
    tables,
    indexShards: shards,
    requestRetentionDays: retentionDays,
    pendingRetentionDays,
    now,
  } = options;
  const requests = { client, name: tables.requests };
  const deliveries = { client, name: options.deliveriesTable };
  const register = createTableRegister(requests, { shards, ownChains: options.chains ?? [] });
  const table = { ...requests, register, shards, retentionDays, pendingRetentionDays, now };
  const changes = createRequestChanges(table);
  const conflicts = createConflictCounter(deliveries);
  let flushedAt = Number.NEGATIVE_INFINITY;
  const listener = {
    notify: changes.notify,
    conflict(relayer: string): void {
      conflicts.add(relayer);
      if (now() - flushedAt < CONFLICTS_MS) return;
      flushedAt = now();
      // No answer waits for it, and none fails by it.
      void conflicts.flush();
    },
  };
  const names = Object.entries({ ...tables, deliveries: deliveries.name }) as [keyof typeof PROBES, string][];
  const probe = ([table, name]: (typeof names)[number]) => readItem({ client, name }, PROBES[table]);

  /** @returns the tables that are not there, as far as DynamoDB reports */
  async function findMissing(): Promise<string[]> {
    const answers = await Promise.allSettled(names.map(probe));
    return names.flatMap(([, name], i) => {
      const { cause } = (answers[i] as Partial<PromiseRejectedResult>).reason ?? {};
      return cause instanceof ResourceNotFoundException ? [name] : [];
    });
  }

  return {
    requests: behindGate(createRequestStore(table, listener), register.ready),
    changes,
    admin: createAdminStore({ table, deliveries, flush: conflicts.flush, removed: changes.removed }),
    relayers: createRelayerStore({ client, name: tables.relayers }),
    rateLimits: createRateLimitStore({ client, name: tables.rateLimits, now }),
    async prepare() {
      const [missing] = await Promise.all([
        findMissing(),
        register.check().catch((error: unknown) => {
          if (!(error instanceof DependencyUnavailableError)) throw error;
        }),
      ]);
      if (missing.length > 0) throw new TablesMissingError(missing);
    },
    async checkReady() {
      await register.check();
      await Promise.all(names.map(probe));
    },
    async close() {
      changes.close();
      await conflicts.flush();
      client.destroy();
    },
  };
}
