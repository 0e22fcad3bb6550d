import { randomUUID } from 'node:crypto';
import { type AdminStore, KEPT_ACTS, type NotedAct, type Removal } from '../../ports/adminStore.ts';
import { DependencyUnavailableError } from '../../ports/errors.ts';
import {
  type Item,
  number,
  put,
  readItem,
  readItems,
  readNumber,
  readText,
  readTexts,
  remove,
  type Table,
  text,
  update,
} from './items.ts';
import { findOldest } from './list.ts';
import { headOf, type RequestTable } from './record.ts';
import { noteSeen, removeParams } from './recordStats.ts';
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
  const key = { requestId: text(requestId) };
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const head = headOf(await readItem(table, key));
    // After a lost answer the client's further try is refused, and finds what it has done.
    if (head === undefined) return tries === 0 ? 'missing' : 'removed';
    const { record, params } = head;
    if (record.status === 'processing') return 'claimed';
    const order = { condition: '#status = :status', values: { ':status': text(record.status) } };
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
  /** Tells those who wait for a request in this process that it is gone. */
  readonly removed: (requestId: string) => void;
}

/** What administrators do, in DynamoDB. */
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
    noteSeen: (address, at) => noteSeen(deliveries, address, at),
    findOldestPending: (chainName) => findOldest(table, { status: 'pending', chainName }),
    async remove(requestId) {
      const removal = await removeRequest(table, requestId);
      if (removal === 'removed') removed(requestId);
      return removal;
    },
    ...createAuditLog(table),
  };
}

const COUNTER = 'audit';
const keyOf = (place: number) => `audit#${place % KEPT_ACTS}`;

const readAct = (item: Item): NotedAct => ({
  ...{ at: readNumber(item, 'at'), act: readText(item, 'act'), keyId: readText(item, 'keyId') },
  ...{ target: readText(item, 'target'), ...readTexts(item, 'reason') },
});

const writeAct = ({ at, act, keyId, target, reason }: NotedAct): Item => ({
  ...{ at: number(at), act: text(act), keyId: text(keyId), target: text(target) },
  ...(reason !== undefined && { reason: text(reason) }),
});

/** Writes an item with the first free number from some place on. @returns the number */
async function takeNumber(table: Table, from: number, fields: Item): Promise<number> {
  for (let place = from; ; ) {
    const taken = { ...fields, requestId: text(keyOf(place)), number: number(place) };
    const order = { condition: 'attribute_not_exists(#number) OR #number < :n', values: { ':n': number(place) } };
    const { done, item } = await put(table, taken, order);
    if (done || item?.call?.S === fields.call?.S) return place;
    // Another's, or one of a later round: all below it are taken.
    place = (item === undefined ? place : readNumber(item, 'number')) + 1;
  }
}

/**
 * The audit log, in DynamoDB. Acts stand in a ring of items of the requests' table, each with a number one higher than that of the act
 * before: the newest need no index to be found, and the ring never grows.
 *
 * A number is taken by the write of the item itself, which holds the id of the call: one that is sent again after a lost answer finds its
 * own item, and no number is taken twice or by nobody. The counter says where to look first; it may be behind, and never ahead.
 */
function createAuditLog(table: RequestTable): Pick<AdminStore, 'noteAct' | 'dropAct' | 'listActs'> {
  const read = (keys: readonly string[]) => readItems(table, keys, { consistent: true });

  async function readNewest(): Promise<number> {
    const counter = (await read([COUNTER])).get(COUNTER);
    return counter === undefined ? 0 : readNumber(counter, 'number');
  }

  /** Sets the counter, unless another has moved it so that the condition fails. */
  const setCounter = (newest: number, condition: string, values: Item = {}) =>
    update(table, { key: { requestId: text(COUNTER) }, set: { number: number(newest) }, condition, values });

  return {
    async noteAct(act) {
      const fields = { ...writeAct(act), call: text(randomUUID()) };
      const place = await takeNumber(table, (await readNewest()) + 1, fields);
      await setCounter(place, 'attribute_not_exists(#number) OR #number < :number');
      return place;
    },
    async dropAct(place) {
      const values = { ':n': number(place) };
      const { done } = await remove(table, { requestId: text(keyOf(place)) }, { condition: '#number = :n', values });
      // The next act takes its number, so that many refused ones push none out that was done.
      if (done) await setCounter(place - 1, '#number = :n', values);
    },
    async listActs({ limit, before }) {
      const newest = await readNewest();
      const oldest = Math.max(1, newest - KEPT_ACTS + 1);
      const from = Math.min(newest, (before ?? newest + 1) - 1);
      const places = Array.from({ length: Math.max(0, Math.min(limit, from - oldest + 1)) }, (_, back) => from - back);
      const items = await read(places.map(keyOf));
      const acts = places.flatMap((place) => {
        const item = items.get(keyOf(place));
        return item !== undefined && readNumber(item, 'number') === place ? [readAct(item)] : [];
      });
      const last = places.at(-1);
      return { items: acts, next: last === undefined || last <= oldest ? null : last };
    },
  };
}
