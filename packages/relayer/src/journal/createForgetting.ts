import type { DatabaseSync } from 'node:sqlite';

/** How long what has ended stays for people to read, in milliseconds: a week. */
const KEEP_ENDED_MS = 7 * 86_400_000;
/** The same for what was sent and is another relayer's now, in milliseconds: until no gateway is likely to show it as pending once more. */
const KEEP_SENT_MS = 90 * 86_400_000;
/** Most rows of a kind that go at a time: a journal of months holds nothing up. */
const MAX_FORGOTTEN = 1000;

/** Forgets some of what ended a week before. @param nowMs - Unix time in milliseconds */
export type Forget = (nowMs: number) => void;

/**
 * Makes the forgetting of a journal. Requests go with their moves and calls; some of each kind at a time, the oldest first.
 *
 * @param database - with the journal's tables
 * @returns to be called now and then: a relayer may run for months
 */
export function createForgetting(database: DatabaseSync): Forget {
  // Were it pending once more, its attempts would count on: the sender knows their names for good.
  const old = `SELECT request_id FROM requests WHERE state IN ('reported', 'lost') AND updated_at < ?
    AND (state = 'reported' OR attempts = 0 OR updated_at < ?) ORDER BY updated_at LIMIT ${MAX_FORGOTTEN}`;
  const ofOldRequests = [
    database.prepare(`DELETE FROM moves WHERE request_id IN (${old})`),
    database.prepare(`DELETE FROM requests WHERE request_id IN (${old})`),
  ];
  // Written before its requests ended: it goes once none of them is known.
  const submissions = database.prepare(
    `DELETE FROM submissions WHERE intent_id IN (SELECT intent_id FROM submissions WHERE created_at < ?
       AND NOT EXISTS (SELECT 1 FROM json_each(request_ids) JOIN requests ON request_id = value)
       ORDER BY created_at LIMIT ${MAX_FORGOTTEN})`,
  );
  const others = [
    ['losses', 'lost_at'],
    ['foreign_transactions', 'found_at'],
    ['outlier_nodes', 'found_at'],
  ].map(([table, at]) => {
    const some = `SELECT rowid FROM ${table} WHERE ${at} < ? ORDER BY ${at} LIMIT ${MAX_FORGOTTEN}`;
    return database.prepare(`DELETE FROM ${table} WHERE rowid IN (${some})`);
  });
  return function forget(nowMs) {
    for (const statement of ofOldRequests) statement.run(nowMs - KEEP_ENDED_MS, nowMs - KEEP_SENT_MS);
    for (const statement of [submissions, ...others]) statement.run(nowMs - KEEP_ENDED_MS);
  };
}
