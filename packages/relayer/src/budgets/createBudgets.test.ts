import { createFakeClock } from '@prism-gateway/testing';
import { expect, test } from 'vitest';
import { openJournal } from '../journal/openJournal.ts';
import { type Budgets, createBudgets, type Party } from './createBudgets.ts';
import type { ExceededBudget, Loss } from './loss.ts';

const HOUR_MS = 3_600_000;
const LIMITS = {
  requestWei: 10n,
  signerWei: 20n,
  codeWei: 30n,
  hourWei: 120n,
  dayWei: 240n,
  signerGifts: 5n,
  dayGifts: 8n,
};

function open() {
  const clock = createFakeClock();
  const journal = openJournal({ path: ':memory:', nowMs: clock.now() });
  const reported: ExceededBudget[] = [];
  // As after a restart: all that is known is in the journal.
  const start = () =>
    createBudgets({ journal, limits: LIMITS, now: clock.now, onExceeded: (exceeded) => reported.push(exceeded) });
  return { clock, journal, reported, start };
}

const by = (requestId: string, signer: string, code?: string): Party => ({ requestId, signatures: [{ signer, code }] });
const loss = (party: Party, atMs: number, wei: bigint, gift = 0n): Loss => {
  const codes = party.signatures.flatMap(({ code }) => (code === undefined ? [] : [code]));
  const signers = party.signatures.map(({ signer }) => signer);
  return { requestId: party.requestId, signers, codes, wei, gift, atMs };
};
const nameExceeded = (budgets: Budgets, party: Party, gift?: bigint) => budgets.findExceeded(party, gift)?.budget;

// Shows RELAY-17.
test('what was lost to a request, a signer or a code has it left alone, and nobody else; over a restart, for a day', () => {
  const { clock, reported, start } = open();
  const budgets = start();
  budgets.addLosses([loss(by('r1', 'alice'), clock.now(), 10n)]);
  expect(nameExceeded(budgets, by('r1', 'bob'))).toBe('request');
  expect(nameExceeded(budgets, by('r2', 'alice'))).toBeUndefined();
  budgets.addLosses([loss(by('r2', 'alice'), clock.now(), 10n), loss(by('r3', 'carol', 'c0de'), clock.now(), 30n)]);
  const next = start();
  expect(nameExceeded(next, by('r4', 'alice'))).toBe('signer');
  expect(nameExceeded(next, by('r4', 'alice'))).toBe('signer');
  expect(nameExceeded(next, by('r4', 'dave', 'c0de'))).toBe('code');
  expect(nameExceeded(next, by('r4', 'dave', 'other'))).toBeUndefined();
  // Whoever has paid is not left alone for what half of the budget was lost to.
  next.addLosses([loss(by('r5', 'erin', 'c0de2'), clock.now(), 15n)]);
  next.addPaid(['frank'], 1n);
  expect(nameExceeded(next, by('r6', 'erin', 'c0de2'))).toBe('code');
  expect(nameExceeded(next, by('r6', 'frank', 'c0de2'))).toBeUndefined();
  // Told once each.
  const reports = ['request r1', 'signer alice', 'code c0de', 'code c0de2'];
  expect(reported.map(({ budget, party }) => `${budget} ${party}`)).toEqual(reports);
  clock.advance(24 * HOUR_MS);
  expect(nameExceeded(next, by('r4', 'alice'))).toBeUndefined();
});

// Shows RELAY-17.
test('strangers can use up half of an hour and of a day; who has paid goes on', () => {
  const { clock, start } = open();
  const budgets = start();
  const lose = (name: string, wei: bigint) => budgets.addLosses([loss(by(name, name), clock.now(), wei)]);
  budgets.addPaid(['alice'], 1n);
  for (let i = 0; i < 6; i += 1) lose(`stranger ${i}`, 10n);
  expect(nameExceeded(budgets, by('r', 'bob'))).toBe('hour');
  expect(nameExceeded(budgets, by('r', 'alice'))).toBeUndefined();
  clock.advance(HOUR_MS);
  expect(nameExceeded(budgets, by('r', 'bob'))).toBeUndefined();
  for (let i = 6; i < 12; i += 1) lose(`stranger ${i}`, 10n);
  clock.advance(HOUR_MS);
  expect(nameExceeded(budgets, by('r', 'bob'))).toBe('day');
  expect(nameExceeded(budgets, by('r', 'alice'))).toBeUndefined();
});

// Shows RELAY-17.
test("one customer's money stops no other: who has paid once and takes its requests back is soon a stranger again", () => {
  const { clock, reported, start } = open();
  const budgets = start();
  const stake = { wei: 12n, gift: 0n };
  const attackers = Array.from({ length: 12 }, (_, i) => `attacker ${i}`);
  for (const signer of attackers) budgets.addPaid([signer], 2n);
  budgets.addPaid(['honest'], 14n);
  // All that they get taken at once is lost; then one after the other, as long as it is taken.
  const taken = attackers.filter((signer) => budgets.hold(by(`first of ${signer}`, signer), stake));
  for (const signer of taken) {
    budgets.release(`first of ${signer}`);
    budgets.addLosses([loss(by(`first of ${signer}`, signer), clock.now(), 12n)]);
  }
  for (const signer of attackers) {
    if (!budgets.hold(by(`next of ${signer}`, signer), stake)) continue;
    budgets.release(`next of ${signer}`);
    budgets.addLosses([loss(by(`next of ${signer}`, signer), clock.now(), 12n)]);
  }
  expect(budgets.summary().hourWei).toBeGreaterThanOrEqual(LIMITS.hourWei);
  expect(nameExceeded(budgets, by('r', 'attacker 1'))).toBeDefined();
  // Of what it has paid, it goes on, over a restart, too; beyond that it waits like all others.
  const next = start();
  expect(nameExceeded(next, by('r1', 'honest'))).toBeUndefined();
  expect(next.hold(by('r1', 'honest'), stake)).toBe(true);
  expect(next.hold(by('r2', 'honest'), stake)).toBe(false);
  expect(reported.some(({ budget, party }) => budget === 'hour' && party === '')).toBe(true);
});

// Shows RELAY-17.
test('what is under way counts as if it were lost, so that many at once lose no more than one after the other', () => {
  const { start } = open();
  const budgets = start();
  const stake = { wei: 25n, gift: 0n };
  expect(budgets.hold(by('r1', 'a', 'c0de'), stake)).toBe(true);
  expect(budgets.hold(by('r2', 'b', 'c0de'), stake)).toBe(false);
  expect(budgets.hold(by('r3', 'c'), stake)).toBe(true);
  // Strangers' half of the hour is 60.
  expect(budgets.hold(by('r4', 'd'), stake)).toBe(false);
  budgets.release('r1');
  expect(budgets.hold(by('r2', 'b', 'c0de'), stake)).toBe(true);
});

// Shows RELAY-11.
test('gifts of credits are bounded for a signer and a day, too', () => {
  const { clock, start } = open();
  const budgets = start();
  budgets.addLosses([loss(by('r1', 'alice'), clock.now(), 0n, 5n)]);
  expect(nameExceeded(budgets, by('r2', 'alice'), 1n)).toBe('signerGifts');
  expect(nameExceeded(budgets, by('r2', 'alice'))).toBeUndefined();
  budgets.addLosses([loss(by('r3', 'bob'), clock.now(), 0n, 3n)]);
  expect(nameExceeded(budgets, by('r4', 'carol'), 1n)).toBe('dayGifts');
});
