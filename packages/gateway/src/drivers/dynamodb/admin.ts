import { type AdminStore, KEPT_ACTS, type NotedAct, type Removal } from '../../ports/adminStore.ts';
import { DependencyUnavailableError } from '../../ports/errors.ts';
import type { RelayerRecord, RelayerStore } from '../../ports/relayerStore.ts';
import {
  type Item,
  put,
  queryPage,
  readFields,
  readItem,
  readNumber,
  remove,
  scanAll,
  type Table,
  type Update,
  update,
} from './items.ts';
import { findOldest } from './list.ts';
import { headOf, type RequestTable } from './record.ts';
import { recordSeen, removeParams } from './recordStats.ts';
import { readCounts } from './stats.ts';

/** Tries: each further one is another process that moved the request at the same moment. */
const MAX_TRIES = 6;

/**
 * Removes a request that nobody holds, and then its params: if the process dies in between, whoever reads the stream removes them.
 *
 * @throws DependencyUnavailableError: whether it is done is not known
 * @see docs/specification.md ADMIN-7
 */
async function removeRequest(table: RequestTable, requestId: string): Promise<Removal> {
  const key = { requestId };
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const head = headOf(await readItem(table, key));
    // After a lost answer the client's further try is refused, and finds what it has done.
    if (head === undefined) return tries === 0 ? 'missing' : 'removed';
    const { record, params } = head;
    if (record.status === 'processing') return 'claimed';
    const order = { condition: '#status = :status', values: { ':status': record.status } };
    const { done } = await remove(table, key, order);
    if (typeof params === 'string' && (done || (await readItem(table, key)) === undefined)) {
      await removeParams(table, params);
    }
    if (done) return 'removed';
  }
  throw new DependencyUnavailableError('store');
}

interface AdminContext {
  readonly table: RequestTable;
  /** Where the stats are kept. */
  readonly deliveries: Table;
  /** Writes the conflicts that this process has counted. */
  readonly flush: () => Promise<void>;
  /** Notifies those who wait for a request in this process that it is gone. */
  readonly removed: (requestId: string) => void;
}

/** The administrator's operations in DynamoDB. */
export function createAdminStore({ table, deliveries, flush, removed }: AdminContext): AdminStore {
  return {
    async readStats(now) {
      await flush();
      const [counts, oldestPendingAt, oldestProcessingAt] = await Promise.all([
        readCounts(deliveries, now),
        findOldest(table, { status: 'pending' }),
        findOldest(table, { status: 'processing' }),
      ]);
      return {
        ...counts,
        ...(oldestPendingAt !== undefined && { oldestPendingAt }),
        ...(oldestProcessingAt !== undefined && { oldestProcessingAt }),
      };
    },
    recordSeen: (address, at) => recordSeen(deliveries, address, at),
    findOldestPending: (chainName) => findOldest(table, { status: 'pending', chainName }),
    async remove(requestId) {
      const removal = await removeRequest(table, requestId);
      if (removal === 'removed') removed(requestId);
      return removal;
    },
    ...createAuditLog(deliveries),
  };
}

const LANE = 'audit';
/** Numbers whose acts are kept. Refused acts have used some: it takes as many of them to push out one that was done. */
const KEPT_NUMBERS = 2 * KEPT_ACTS;
/** The item whose number is that of the newest act. */
const COUNTER = { lane: LANE, place: 'newest' };
/** Key of an act: text that stands in the order of its numbers. */
const keyOf = (act: number) => ({ lane: LANE, place: String(act).padStart(12, '0') });

/** Reads an act as it was written. */
const readAct = (item: Item): NotedAct =>
  readFields(item, { at: 'number', act: 'text', keyId: 'text', target: 'text' }, { reason: 'text' });

/**
 * The audit log: acts stand in a lane of the table of deliveries, under numbers that a counter gives. A number that stays unused, for an
 * answer was lost or a process died, harms nothing.
 */
function createAuditLog(deliveries: Table): Pick<AdminStore, 'recordAct' | 'dropAct' | 'listActs'> {
  return {
    async recordAct(act) {
      const { item = {} } = await update(deliveries, { key: COUNTER, add: { number: 1 } });
      const taken = readNumber(item, 'number');
      await put(deliveries, { ...keyOf(taken), number: taken, ...act });
      await remove(deliveries, keyOf(taken - KEPT_NUMBERS));
      return taken;
    },
    dropAct: async (taken) => void (await remove(deliveries, keyOf(taken))),
    async listActs({ limit, before = Number.MAX_SAFE_INTEGER }) {
      const { items } = await queryPage(deliveries, {
        ...{ keys: 'lane = :lane AND place BETWEEN :first AND :last', order: 'desc', limit, consistent: true },
        values: {
          ':lane': LANE,
          ':first': keyOf(0).place,
          ':last': keyOf(Math.max(0, Math.min(before, 1e12) - 1)).place,
        },
      });
      const last = items.length < limit ? undefined : items.at(-1);
      return { items: items.map(readAct), next: last === undefined ? null : readNumber(last, 'number') };
    },
  };
}

/** Key of a relayer: in lower case, so that letter case distinguishes none. */
const relayerKey = (address: string) => ({ address: address.toLowerCase() });

function readRelayer(item: Item): RelayerRecord {
  const shape = { checksumAddress: 'text', createdAt: 'number', updatedAt: 'number' } as const;
  const optional = { label: 'text', suspendReason: 'text', suspendedAt: 'number' } as const;
  const { checksumAddress: address, ...fields } = readFields(item, shape, optional);
  return { address, ...fields };
}

const byAge = (a: RelayerRecord, b: RelayerRecord) => a.createdAt - b.createdAt || (a.address < b.address ? -1 : 1);

/** The whitelist in DynamoDB. Nothing of it is kept in memory: a relayer that is removed has lost its access when the call returns. */
export function createRelayerStore(table: Table): RelayerStore {
  /** Changes a relayer if the condition holds. @returns the relayer as it then stands; undefined: there is none */
  async function change(address: string, order: Omit<Update, 'key'>): Promise<RelayerRecord | undefined> {
    const { item } = await update(table, { key: relayerKey(address), ...order });
    return item && readRelayer(item);
  }

  return {
    async put({ address, label, now }) {
      const set = { checksumAddress: address, label, updatedAt: now };
      const compute = { createdAt: 'if_not_exists(#createdAt, :updatedAt)' };
      const { item = {} } = await update(table, { key: relayerKey(address), set, compute });
      return readRelayer(item);
    },
    remove: async (address) => void (await remove(table, relayerKey(address))),
    async find(address) {
      const item = await readItem(table, relayerKey(address));
      return item && readRelayer(item);
    },
    suspend: ({ address, reason, now }) =>
      change(address, {
        set: { suspendReason: reason, updatedAt: now },
        compute: { suspendedAt: 'if_not_exists(#suspendedAt, :updatedAt)' },
        condition: 'attribute_exists(address)',
      }),
    resume: ({ address, now }) =>
      change(address, {
        set: { updatedAt: now },
        remove: ['suspendedAt', 'suspendReason'],
        condition: 'attribute_exists(suspendedAt)',
      }),
    list: async () => (await scanAll(table)).map(readRelayer).sort(byAge),
  };
}
