import {
  type AdminStore,
  HOUR_MS,
  KEPT_HOURS,
  KEPT_MINUTES,
  MAX_TOLD_RELAYERS,
  MINUTE_MS,
  type Removal,
} from '../../ports/adminStore.ts';
import type { Awaitable } from '../../ports/awaitable.ts';
import type { RelayerStore } from '../../ports/relayerStore.ts';
import type { AccessWrites } from './accessWrites.ts';
import { hasRecords, readActivity, readActs, readChain, readRelayer } from './adminRows.ts';
import type { DeliveryWrites } from './deliveryWrites.ts';
import type { SharedTables } from './sharedTables.ts';
import type { Row, SqlValue } from './sqlWrite.ts';
import { relayerOfRow, type TextForm } from './tables.ts';
import type { WebhookWrites } from './webhookWrites.ts';

/** The writes that both SQL stores have, with what each takes and returns. */
export interface SharedWrites extends AccessWrites, WebhookWrites, DeliveryWrites {
  removeRequest: { readonly input: string; readonly result: Removal };
  recordSeen: { readonly input: { readonly address: string; readonly at: number }; readonly result: null };
}

/** A database of SQL, as the stores that are alike on each use it. */
export interface SqlContext {
  readonly tables: SharedTables & { readonly requests: string };
  readonly form: TextForm;
  /** Reads rows, in the SQL that both share: parameters are `?1`, `?2`, …. @throws DependencyUnavailableError */
  readonly read: (sql: string, ...values: readonly SqlValue[]) => Awaitable<readonly Row[]>;
  /** @throws DependencyUnavailableError */
  readonly write: <K extends keyof SharedWrites>(
    kind: K,
    input: SharedWrites[K]['input'],
  ) => Promise<SharedWrites[K]['result']>;
}

/** The administrator's operations, for any SQL database. */
export function createAdminStore({ read, write, tables: t, form }: SqlContext): AdminStore {
  const oldest = `SELECT min(created_at) AS at FROM ${t.requests} WHERE status = ?1`;
  const since = `SELECT * FROM ${t.activity} WHERE period = ?1 AND start > ?2 ORDER BY start`;
  return {
    async readStats(now) {
      const [chains, pending, processing, minutes, hours, relayers] = await Promise.all([
        read(`SELECT * FROM ${t.chains} ORDER BY chain_name = '', pending + processing DESC, chain_name`),
        read(oldest, 'pending'),
        read(oldest, 'processing'),
        read(since, MINUTE_MS, now - KEPT_MINUTES * MINUTE_MS),
        read(since, HOUR_MS, now - KEPT_HOURS * HOUR_MS),
        read(`SELECT * FROM ${t.relayerStats} ORDER BY last_seen_at DESC LIMIT ${MAX_TOLD_RELAYERS}`),
      ]);
      const [oldestPendingAt, oldestProcessingAt] = [pending[0]?.at, processing[0]?.at];
      return {
        chains: chains.map(readChain).filter(hasRecords),
        ...(typeof oldestPendingAt === 'number' && { oldestPendingAt }),
        ...(typeof oldestProcessingAt === 'number' && { oldestProcessingAt }),
        minutes: minutes.map(readActivity),
        hours: hours.map(readActivity),
        relayers: relayers.map(readRelayer),
      };
    },
    async findOldestPending(chainName) {
      const [row] = await read(`${oldest} AND chain_name = ?2`, 'pending', chainName);
      return typeof row?.at === 'number' ? row.at : undefined;
    },
    remove: (requestId) => write('removeRequest', requestId),
    async recordSeen(address, at) {
      await write('recordSeen', { address, at });
    },
    recordAct: (act) => write('recordAct', act),
    async dropAct(number) {
      await write('dropAct', number);
    },
    async listActs({ limit, before = Number.MAX_SAFE_INTEGER }) {
      const select = `SELECT * FROM ${t.audit} WHERE number < ?1 ORDER BY number DESC LIMIT ?2`;
      return readActs(await read(select, before, limit), { limit, form });
    },
  };
}

/** The whitelist, in any database of SQL. */
export function createRelayerStore({ read, write, tables: t, form }: SqlContext): RelayerStore {
  return {
    put: (relayer) => write('putRelayer', relayer),
    async remove(address) {
      await write('removeRelayer', address);
    },
    async find(address) {
      const [row] = await read(`SELECT * FROM ${t.relayers} WHERE key = lower(?1)`, address);
      return row && relayerOfRow(row, form);
    },
    suspend: (suspension) => write('suspendRelayer', suspension),
    resume: (resumption) => write('suspendRelayer', resumption),
    async list() {
      const rows = await read(`SELECT * FROM ${t.relayers} ORDER BY created_at, key`);
      return rows.map((row) => relayerOfRow(row, form));
    },
  };
}
