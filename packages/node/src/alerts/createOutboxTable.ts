import type { DatabaseSync } from 'node:sqlite';
import type { Schema } from '../files/migrateDatabase.ts';
import type { Alert } from './alert.ts';

/** An alert that waits for a channel. */
export interface WaitingAlert {
  readonly id: number;
  readonly alert: Alert;
}

/** A message that a channel has got. */
export interface Delivery {
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  readonly code: string;
  readonly severity: Alert['severity'];
}

/** Alerts that a channel has not taken. */
export interface Backlog {
  readonly channel: string;
  readonly count: number;
  /** When the oldest was raised; milliseconds since the epoch. */
  readonly sinceMs: number;
}

/** A condition that people were alerted to, and that is not over. */
interface RaisedCondition {
  /** Milliseconds since the epoch. */
  readonly sinceMs: number;
  readonly alertedAtMs: number;
}

/** Alerts on their way; written in the commit of what they report. */
export interface OutboxTable {
  add(alert: Alert): void;
  /** Those that a channel has not taken, oldest first; a channel that is new gets none that others took before. */
  listWaiting(channel: string): readonly WaitingAlert[];
  /** A channel has taken alerts in one message. */
  markDelivered(channel: string, ids: readonly number[]): void;
  /** Alerts that a channel has taken since a time, in milliseconds since the epoch, oldest first; those of one message at one time. */
  listDeliveredSince(channel: string, sinceMs: number): readonly Delivery[];
  /** Counts the alerts that wait for each channel. */
  listBacklogs(): readonly Backlog[];
  /** Conditions that people were alerted to, and that are not over. */
  listConditions(): readonly string[];
  condition(name: string): RaisedCondition | undefined;
  setCondition(name: string, raised: RaisedCondition): void;
  clearCondition(name: string): void;
}

/** The outbox's tables. `facts` holds, beside what else a program keeps there, from which alert on a channel gets them. */
export const OUTBOX_SCHEMA: Schema = {
  store: 'outbox',
  steps: [
    `-- No number is given twice: an alert with that of a forgotten one would be taken for delivered.
    CREATE TABLE alerts (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      alert TEXT NOT NULL,
      raised_at_ms INTEGER NOT NULL
    ) STRICT;
    -- What is to be forgotten.
    CREATE INDEX alerts_by_time ON alerts (raised_at_ms);
    CREATE TABLE deliveries (
      alert_id INTEGER NOT NULL REFERENCES alerts ON DELETE CASCADE,
      channel TEXT NOT NULL,
      at_ms INTEGER NOT NULL,
      PRIMARY KEY (alert_id, channel)
    ) STRICT, WITHOUT ROWID;
    -- What a channel got within the hour.
    CREATE INDEX deliveries_by_time ON deliveries (channel, at_ms);
    CREATE TABLE conditions (
      name TEXT PRIMARY KEY,
      since_ms INTEGER NOT NULL,
      told_at_ms INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;`,
  ],
};

/** For how long alerts are kept that a channel has taken, and all while there has never been a channel, in milliseconds: 30 days. */
const KEPT_MS = 30 * 86_400_000;

/** How far in the future a message's time may be; what is later was sent before the clock was set back, and counts no more. */
const AHEAD_MS = 1000;

/** Whether a fact is the first alert of a channel. */
const IS_CHANNEL = "name >= 'outbox: ' AND name < 'outbox:!'";

function prepare(database: DatabaseSync) {
  return {
    add: database.prepare('INSERT INTO alerts (alert, raised_at_ms) VALUES (?, ?)'),
    forget: database.prepare(
      `DELETE FROM alerts WHERE raised_at_ms < ? AND (EXISTS (SELECT 1 FROM deliveries WHERE alert_id = id)
         OR NOT EXISTS (SELECT 1 FROM facts WHERE ${IS_CHANNEL}))`,
    ),
    waiting: database.prepare(
      `SELECT id, alert, raised_at_ms FROM alerts
       WHERE id > ? AND NOT EXISTS (SELECT 1 FROM deliveries WHERE channel = ? AND alert_id = id) ORDER BY id`,
    ),
    first: database.prepare('SELECT value FROM facts WHERE name = ?'),
    newest: database.prepare('SELECT max(alert_id) AS id FROM deliveries'),
    setFirst: database.prepare('INSERT INTO facts VALUES (?, ?)'),
    // Of one that another channel had taken a month before nothing is left to be noted.
    delivered: database.prepare(
      'INSERT INTO deliveries SELECT id, ?2, ?3 FROM alerts WHERE id = ?1 ON CONFLICT DO NOTHING',
    ),
    times: database.prepare(
      `SELECT at_ms, alert ->> 'code' AS code, alert ->> 'severity' AS severity FROM deliveries
       JOIN alerts ON id = alert_id WHERE channel = ? AND at_ms BETWEEN ? AND ? ORDER BY at_ms`,
    ),
    channels: database.prepare(`SELECT substr(name, 9) AS channel FROM facts WHERE ${IS_CHANNEL}`),
    conditions: database.prepare('SELECT name FROM conditions ORDER BY name'),
    condition: database.prepare('SELECT since_ms, told_at_ms FROM conditions WHERE name = ?'),
    setCondition: database.prepare(
      `INSERT INTO conditions VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET told_at_ms = excluded.told_at_ms`,
    ),
    clearCondition: database.prepare('DELETE FROM conditions WHERE name = ?'),
  };
}

/** Keeps alerts in the journal's file. */
export function createOutboxTable(
  database: DatabaseSync,
  options: { readonly now: () => number; readonly commit: <Result>(write: () => Result) => Result },
): OutboxTable {
  const { now, commit } = options;
  const statements = prepare(database);
  let lastAtMs = 0;

  /** A channel gets the alerts after this one. */
  function firstOf(channel: string): number {
    const name = `outbox: ${channel}`;
    const known = statements.first.get(name)?.value;
    if (known !== undefined) return Number(known);
    const first = Number(statements.newest.get()?.id ?? 0);
    statements.setFirst.run(name, `${first}`);
    return first;
  }

  return {
    add(alert) {
      commit(() => {
        statements.add.run(JSON.stringify(alert), now());
        statements.forget.run(now() - KEPT_MS);
      });
    },
    listWaiting: (channel) =>
      statements.waiting.all(firstOf(channel), channel).map((row) => ({
        id: Number(row.id),
        // Only this table's own writes are read.
        alert: JSON.parse(`${row.alert}`) as Alert,
      })),
    markDelivered(channel, ids) {
      // Each message has a time of its own, so that they can be counted.
      lastAtMs = lastAtMs > now() + AHEAD_MS ? now() : Math.max(now(), lastAtMs + 1);
      commit(() => {
        for (const id of ids) statements.delivered.run(id, channel, lastAtMs);
        statements.forget.run(now() - KEPT_MS);
      });
    },
    listDeliveredSince: (channel, sinceMs) =>
      statements.times.all(channel, sinceMs, now() + AHEAD_MS).map((row) => ({
        atMs: Number(row.at_ms),
        code: `${row.code}`,
        // Only this table's own writes are read.
        severity: row.severity as Alert['severity'],
      })),
    listBacklogs: () =>
      statements.channels.all().flatMap(({ channel }) => {
        const waiting = statements.waiting.all(firstOf(`${channel}`), `${channel}`);
        const [oldest] = waiting;
        return oldest === undefined
          ? []
          : [{ channel: `${channel}`, count: waiting.length, sinceMs: Number(oldest.raised_at_ms) }];
      }),
    listConditions: () => statements.conditions.all().map(({ name }) => `${name}`),
    condition(name) {
      const row = statements.condition.get(name);
      return row === undefined ? undefined : { sinceMs: Number(row.since_ms), alertedAtMs: Number(row.told_at_ms) };
    },
    setCondition: (name, { sinceMs, alertedAtMs }) => void statements.setCondition.run(name, sinceMs, alertedAtMs),
    clearCondition: (name) => void statements.clearCondition.run(name),
  };
}

/**
 * Runs some writes as one commit; within another one, as a part of it.
 *
 * @returns what `write` returns
 */
export function commitTogether<Result>(database: DatabaseSync, write: () => Result): Result {
  if (database.isTransaction) return write();
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = write();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
