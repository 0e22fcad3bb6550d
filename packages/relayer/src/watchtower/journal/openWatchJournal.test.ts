import { DatabaseSync } from 'node:sqlite';
import { expect, test, vi } from 'vitest';
import { OTHER, RELAYER, SIGNER } from '../../../test/watchRig.ts';
import type { WatchedRow } from './openWatchedTable.ts';
import { openWatchJournal } from './openWatchJournal.ts';

/** What a week fills. */
const GROWS = /^SCAN (executions|watched|watching)\b/;

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

/** A request that was reported failed. */
const failedRow = (requestId: string): WatchedRow => ({
  ...{ requestId, state: 'ended', status: 'failed', relayer: RELAYER, claimedSeconds: 1n, claimNonce: 0, body: '{}' },
  ...{ txHash: undefined, endedSeconds: 2n, endedBlock: 1n, reportedSeconds: 2n, expiresSeconds: 100n },
  ...{ excuse: 'none', claimPrice: 0n, idleSeconds: 0n, isReopened: false, firstBlock: 1n },
});

// Shows WATCH-9.
test('of what strangers make fail in the name of a signer the newest hundred are watched on, until they are over', () => {
  const journal = openWatchJournal({ path: ':memory:', now: () => 0 });
  const ids = Array.from({ length: 150 }, (_, index) => `r${index}`);
  const listed = () => journal.listWatching(SIGNER).map(({ requestId }) => requestId);
  for (const id of ids) {
    journal.put(failedRow(id), 0);
    journal.watch(id, [SIGNER, OTHER]);
  }
  expect(listed()).toEqual(ids.slice(50));
  journal.finish('r60');
  journal.put({ ...failedRow('r61'), state: 'pending', status: 'pending' }, 0);
  journal.wake('r62');
  expect(listed()).toEqual([...ids.slice(50, 60), ...ids.slice(63)]);
  journal.watch('r62', [SIGNER]);
  expect(listed()).toContain('r62');
  journal.retire({ seconds: 101n, ms: 0 });
  expect([listed(), journal.count()]).toEqual([
    [],
    new Map([
      ['done', 149],
      ['pending', 1],
    ]),
  ]);
  journal.close();
});
