import { DatabaseSync } from 'node:sqlite';
import { expect, test, vi } from 'vitest';
import { openWatchJournal } from './openWatchJournal.ts';

/** What a week fills. */
const GROWS = /^SCAN (executions|watched|signers)\b/;

// Shows WATCH-9.
test('no statement of a look walks through what a week has left, but the count for who reads the metrics', () => {
  const prepare = vi.spyOn(DatabaseSync.prototype, 'prepare');
  const journal = openWatchJournal({ path: ':memory:', now: () => 0 });
  const database = prepare.mock.contexts[0] as DatabaseSync;
  const statements = new Set(prepare.mock.calls.map(([sql]) => sql));
  prepare.mockRestore();
  const walks = [...statements].filter((sql) =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .some(({ detail }) => GROWS.test(`${detail}`)),
  );
  expect(walks).toEqual(['SELECT state, count(*) AS requests FROM watched GROUP BY state']);
  expect(statements.size).toBeGreaterThan(40);
  journal.close();
});
