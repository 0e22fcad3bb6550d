import { afterEach, beforeEach, expect, test } from 'vitest';
import { evaluateReleases } from './evaluateReleases.ts';
import { openWatchJournal, type WatchJournal } from './journal/openWatchJournal.ts';

const LOOPER = `0x${'11'.repeat(20)}` as const;
const HONEST = `0x${'22'.repeat(20)}` as const;
const WORD = `0x${'33'.repeat(32)}` as const;
/** A full minute. */
const START = 999_960n;

let journal: WatchJournal;
beforeEach(() => {
  journal = openWatchJournal({ path: ':memory:', now: () => 0 });
});
afterEach(() => journal.close());

const LEASE = 900n;
const evaluate = (seconds: bigint, leaseSeconds = LEASE) =>
  evaluateReleases(journal, { head: { number: seconds, seconds }, leaseSeconds });

/** Has a relayer give a claim back every `everySeconds`. */
function release(
  relayer: typeof LOOPER | typeof HONEST,
  { count, everySeconds, idleSeconds = 0n }: { count: number; everySeconds: number; idleSeconds?: bigint },
) {
  for (let n = 0; n < count; n += 1) {
    journal.addRelease({ relayer, requestId: `r${n}`, seconds: START + BigInt(n * everySeconds), idleSeconds });
  }
}

// Shows WATCH-1.
test('who gives claims back in fifteen separate minutes of an hour, and carries nothing out, is found', () => {
  release(LOOPER, { count: 42, everySeconds: 20 });
  expect(evaluate(START + 820n)).toEqual([]);
  journal.addRelease({ relayer: LOOPER, requestId: 'last', seconds: START + 840n, idleSeconds: 0n });
  expect(evaluate(START + 840n, 7200n)).toEqual([
    {
      ...{ requestId: 'last', kind: 'idleRelease', relayer: LOOPER, txHash: undefined, block: START + 840n },
      text: 'In 15 separate minutes of the last hour it held claims idle or gave them back, 43 in all, and carried nothing out.',
    },
  ]);
});

// Shows WATCH-1.
test('who holds a claim for a lease, lets a confederate take it, and holds the next one, is found', () => {
  const loseClaim = (minutes: bigint) =>
    journal.addRelease({ relayer: LOOPER, requestId: 'r', seconds: START + minutes * 60n, idleSeconds: LEASE });
  loseClaim(15n);
  expect(evaluate(START + 900n)).toEqual([]);
  loseClaim(45n);
  expect(evaluate(START + 2700n)).toMatchObject([{ relayer: LOOPER, kind: 'idleRelease' }]);
  // Longer leases excuse longer stops.
  expect(evaluate(START + 2700n, 1000n)).toEqual([]);
});

// Shows WATCH-1.
test('who was gone for a lease and a quarter, with a thousand claims, is not', () => {
  release(HONEST, { count: 1000, everySeconds: 0, idleSeconds: (5n * LEASE) / 4n });
  journal.addRelease({ relayer: HONEST, requestId: 'r', seconds: START + 120n, idleSeconds: LEASE });
  expect(evaluate(START + 120n)).toEqual([]);
});

// Shows WATCH-1.
test('who gives back all at once, or seldom, or works besides, is not', () => {
  release(HONEST, { count: 500, everySeconds: 1 });
  expect(evaluate(START + 500n)).toEqual([]);
  journal.forgetReleases({ relayer: HONEST });
  release(HONEST, { count: 30, everySeconds: 400 });
  expect(evaluate(START + 29n * 400n)).toEqual([]);
  const later = START + 30n * 400n;
  for (let minute = 0n; minute < 30n; minute += 1n) {
    journal.addRelease({ relayer: HONEST, requestId: 'r', seconds: later + minute * 60n, idleSeconds: 0n });
  }
  const execution = { txHash: WORD, logIndex: 0, block: 1n, signer: LOOPER, nonce: 0n, digest: WORD, relayer: HONEST };
  journal.addExecutions([{ ...execution, deepSeconds: undefined }], later - 1800n);
  expect(evaluate(later + 1800n)).toEqual([]);
  // What it did long ago does not count.
  journal.addExecutions([{ ...execution, deepSeconds: undefined }], later - 1801n);
  expect(evaluate(later + 1800n)).toHaveLength(1);
});
