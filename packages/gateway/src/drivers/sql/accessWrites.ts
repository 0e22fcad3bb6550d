import type { NotedAct } from '../../ports/adminStore.ts';
import type { RelayerRecord } from '../../ports/relayerStore.ts';
import type { SharedTables } from './sharedTables.ts';
import { run, runOne, type SqlWrite } from './sqlWrite.ts';
import { relayerOfRow, type TextForm } from './tables.ts';

/** Acts that are kept. */
const MOST_ACTS = 10_000;

/** The writes of administrators and of the whitelist, with what each takes and returns. */
export interface AccessWrites {
  recordAct: { readonly input: NotedAct; readonly result: number };
  dropAct: { readonly input: number; readonly result: null };
  putRelayer: {
    readonly input: { readonly address: string; readonly label?: string; readonly now: number };
    readonly result: RelayerRecord;
  };
  removeRelayer: { readonly input: string; readonly result: null };
  /** With a reason: suspends; without one: resumes. */
  suspendRelayer: {
    readonly input: { readonly address: string; readonly reason?: string; readonly now: number };
    readonly result: RelayerRecord | undefined;
  };
}

/** Administrators' writes on acts and relayers, for any SQL database. */
export function createAccessWrites({ audit, relayers }: Pick<SharedTables, 'audit' | 'relayers'>, form: TextForm) {
  const written = (text: string | undefined) => (text === undefined ? null : form.write(text));
  return {
    *recordAct({ at, act, keyId, target, reason }: NotedAct): SqlWrite<number> {
      const insert = `INSERT INTO ${audit} (at, act, key_id, target, reason) VALUES (?1, ?2, ?3, ?4, ?5) RETURNING number`;
      const number = Number((yield* runOne(insert, at, act, keyId, target, written(reason)))?.number);
      yield* run(`DELETE FROM ${audit} WHERE number <= ?1`, number - MOST_ACTS);
      return number;
    },
    *dropAct(number: number): SqlWrite<null> {
      yield* run(`DELETE FROM ${audit} WHERE number = ?1`, number);
      return null;
    },
    *putRelayer({ address, label, now }: AccessWrites['putRelayer']['input']): SqlWrite<RelayerRecord> {
      const row = yield* runOne(
        `INSERT INTO ${relayers} (key, address, label, created_at, updated_at) VALUES (lower(?1), ?1, ?2, ?3, ?3)
         ON CONFLICT (key) DO UPDATE SET address = excluded.address, label = excluded.label, updated_at = excluded.updated_at
         RETURNING *`,
        ...[address, written(label), now],
      );
      // The row that was written.
      return relayerOfRow(row ?? {}, form);
    },
    *removeRelayer(address: string): SqlWrite<null> {
      yield* run(`DELETE FROM ${relayers} WHERE key = lower(?1)`, address);
      return null;
    },
    *suspendRelayer({
      address,
      reason,
      now,
    }: AccessWrites['suspendRelayer']['input']): SqlWrite<RelayerRecord | undefined> {
      if (reason === undefined) {
        const set = 'suspended_at = NULL, suspend_reason = NULL, updated_at = ?1';
        yield* run(`UPDATE ${relayers} SET ${set} WHERE key = lower(?2) AND suspended_at IS NOT NULL`, now, address);
      } else {
        const set = 'suspended_at = coalesce(suspended_at, ?1), suspend_reason = ?2, updated_at = ?1';
        yield* run(`UPDATE ${relayers} SET ${set} WHERE key = lower(?3)`, now, form.write(reason), address);
      }
      const row = yield* runOne(`SELECT * FROM ${relayers} WHERE key = lower(?1)`, address);
      return row && relayerOfRow(row, form);
    },
  };
}
