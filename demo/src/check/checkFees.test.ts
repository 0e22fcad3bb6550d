import { expect, it } from 'vitest';
import type { Expected } from '../plan/createPlanner.ts';
import { checkFees, type Earnings, type FeeFacts } from './checkFees.ts';

const CREDIT = 10n ** 18n;
const relayer = (name: string, given: Partial<Earnings>): Earnings => ({
  name,
  ...{ isOfficial: true, requests: 1, transactions: 1, worth: 2n, spent: 1n },
  ...{ fees: 10n * CREDIT, share: 10n * CREDIT, credits: 10n * CREDIT },
  ...given,
});
const other = relayer('B', { isOfficial: false, share: 7n * CREDIT, credits: 7n * CREDIT });
const expected: Expected = {
  ...{ prisms: new Map(), credits: [], nonces: [] },
  ...{ relayerFees: 20n * CREDIT, protocolFees: 5n * CREDIT },
};
const good: FeeFacts = { earnings: [relayer('A', {}), other], treasury: 8n * CREDIT, expected };
const evaluate = (facts: Partial<FeeFacts>) => checkFees({ ...good, ...facts }).map(({ isTrue }) => isTrue);

it('finds each credit where it belongs', () => {
  expect(evaluate({})).toEqual([true, true, true, true]);
});

it('finds a relayer that holds more than its share, and thereby more than prisms have paid', () => {
  expect(evaluate({ earnings: [relayer('A', { credits: 11n * CREDIT }), other] })).toEqual([false, true, false, true]);
});

it('finds a treasury that lacks something', () => {
  expect(evaluate({ treasury: 8n * CREDIT - 1n })).toEqual([true, false, false, true]);
});

it('finds a relayer that did nothing, or lost by it', () => {
  expect(evaluate({ earnings: [relayer('A', { requests: 0 }), other] })).toEqual([true, true, true, false]);
  expect(evaluate({ earnings: [relayer('A', { worth: 1n }), other] })).toEqual([true, true, true, false]);
});
