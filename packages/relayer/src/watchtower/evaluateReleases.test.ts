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

const at = (seconds: bigint) => ({ number: seconds, seconds });
/** Has a relayer give one claim back each so many seconds. */
function release(
  relayer: typeof LOOPER | typeof HONEST,
  { count, everySeconds }: { count: number; everySeconds: number },
) {
  for (let n = 0; n < count; n += 1) {
    journal.addRelease({ relayer, requestId: `r${n}`, seconds: START + BigInt(n * everySeconds) });
  }
}

// Shows WATCH-1.
test('who gives claims back in fifteen separate minutes of an hour, and carries nothing out, is found', () => {
  release(LOOPER, { count: 42, everySeconds: 20 });
  expect(evaluateReleases(journal, at(START + 820n))).toEqual([]);
  journal.addRelease({ relayer: LOOPER, requestId: 'last', seconds: START + 840n });
  expect(evaluateReleases(journal, at(START + 840n))).toEqual([
    {
      ...{ requestId: 'last', kind: 'idleRelease', relayer: LOOPER, txHash: undefined, block: START + 840n },
      text: 'In 15 separate minutes of the last hour it gave back 43 claims, and carried nothing out.',
    },
  ]);
});

// Shows WATCH-1.
test('who gives back all at once, or seldom, or works besides, is not', () => {
  release(HONEST, { count: 500, everySeconds: 1 });
  expect(evaluateReleases(journal, at(START + 500n))).toEqual([]);
  journal.forgetReleases({ relayer: HONEST });
  release(HONEST, { count: 30, everySeconds: 400 });
  expect(evaluateReleases(journal, at(START + 29n * 400n))).toEqual([]);
  const later = START + 29n * 400n;
  for (let minute = 0n; minute < 30n; minute += 1n) {
    journal.addRelease({ relayer: HONEST, requestId: 'r', seconds: later + minute * 60n });
  }
  const execution = { txHash: WORD, logIndex: 0, block: 1n, signer: LOOPER, nonce: 0n, digest: WORD, relayer: HONEST };
  journal.addExecutions([{ ...execution, deepSeconds: undefined }], later - 1800n);
  expect(evaluateReleases(journal, at(later + 1800n))).toEqual([]);
  // What it did long ago does not count.
  journal.addExecutions([{ ...execution, deepSeconds: undefined }], later - 1801n);
  expect(evaluateReleases(journal, at(later + 1800n))).toHaveLength(1);
});
