import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Address, type Hash, pad } from 'viem';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openPaymentJournal } from '../journal/openPaymentJournal.ts';
import { createStanding, judgePayout } from './judgePayout.ts';
import { announcementOf, markPayout } from './marks.ts';

/** As wallets write an address: the table has it in lower case. */
const SELF: Address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const OTHER: Address = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc';
const STAND_MS = 1000;
const mark = markPayout('pi_judged');
const hashOf = (number: number): Hash => pad(`0x${number}`);

let journal: ReturnType<typeof openPaymentJournal>;

beforeEach(() => {
  const file = join(mkdtempSync(join(tmpdir(), 'prism-judge-')), 'payments.db');
  journal = openPaymentJournal({ file, now: Date.now });
});

afterEach(() => journal.close());

/** Puts announcements of the payment on the chain, one a block. */
function announce(senders: readonly Address[]): void {
  const all = senders.map((sender, index) => ({
    sender,
    txHash: hashOf(index + 1),
    blockNumber: index + 1,
    txIndex: 0,
  }));
  journal.marks.replaceRange({
    scope: 'chain',
    relayers: [OTHER],
    fromBlock: 0,
    toBlock: 9,
    added: all.map(({ sender, txHash }) => ({
      txHash,
      sender: sender.toLowerCase() as Address,
      kind: 'announce',
      mark: announcementOf(mark),
    })),
    places: all.map(({ txHash, blockNumber, txIndex }) => ({ txHash, blockNumber, txIndex })),
  });
}

test.each([
  [[], 'later'],
  [[SELF], 'yes'],
  [[OTHER, SELF], 'yes'],
  [[SELF, OTHER], 'never'],
  [[SELF, OTHER, SELF], 'yes'],
])('announced by %j: %s', (senders, verdict) => {
  announce(senders);
  expect(judgePayout({ marks: journal.marks, self: SELF, mark })).toBe(verdict);
});

test('an announcement over that of another must stand for its time', () => {
  announce([OTHER, SELF]);
  let nowMs = 5000;
  const { hasStood } = createStanding({ standMs: STAND_MS, monotonicNow: () => nowMs });
  const judged = { marks: journal.marks, self: SELF, mark };
  expect(hasStood(judged)).toBe(false);
  nowMs += STAND_MS - 1;
  expect(hasStood(judged)).toBe(false);
  nowMs += 1;
  expect(hasStood(judged)).toBe(true);
});

test('an announcement that nobody disputes need not wait', () => {
  announce([SELF]);
  const { hasStood } = createStanding({ standMs: STAND_MS, monotonicNow: () => 0 });
  expect(hasStood({ marks: journal.marks, self: SELF, mark })).toBe(true);
});
