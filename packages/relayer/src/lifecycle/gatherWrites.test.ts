import { expect, test } from 'vitest';
import { createBatchCostTracker, gatherWrites } from './gatherWrites.ts';
import type { OpenRequest } from './states.ts';

const request = (requestId: string, change: Partial<OpenRequest> & { action?: string } = {}): OpenRequest =>
  ({
    requestId,
    record: { action: change.action ?? 'WRITE_DATA_FOR' },
    gas: 100_000n,
    attempts: 0,
    signatures: [{ nonce: 0n }],
    ...change,
  }) as OpenRequest;
const ids = (groups: readonly (readonly OpenRequest[])[]) =>
  groups.map((group) => group.map(({ requestId }) => requestId).join(''));

// Shows RELAY-10.
test('writes go together, anything else and what has failed in a batch alone', () => {
  const requests = [
    request('a'),
    request('b', { action: 'MODIFY_DATA_FOR' }),
    request('c'),
    request('d', { attempts: 1 }),
    // A contract wallet's.
    request('e', { signatures: [{ nonce: undefined }] as never }),
  ];
  expect(ids(gatherWrites(requests, { maxBatchSize: 50, batchCosts: createBatchCostTracker() }))).toEqual([
    'b',
    'd',
    'e',
    'ac',
  ]);
});

test('a batch is bounded by its size and by its gas', () => {
  const batchCosts = createBatchCostTracker();
  const five = ['a', 'b', 'c', 'd', 'e'].map((id) => request(id));
  expect(ids(gatherWrites(five, { maxBatchSize: 2, batchCosts }))).toEqual(['ab', 'cd', 'e']);
  const large = ['a', 'b', 'c'].map((id) => request(id, { gas: 4_000_000n }));
  expect(ids(gatherWrites(large, { maxBatchSize: 50, batchCosts }))).toEqual(['ab', 'c']);
  expect(ids(gatherWrites(five, { maxBatchSize: 1, batchCosts }))).toEqual(['a', 'b', 'c', 'd', 'e']);
});

// Shows RELAY-10.
test('where batches turn out dear, writes go singly for a while', () => {
  const batchCosts = createBatchCostTracker();
  batchCosts.learn({ gasUsed: 120n, singleGas: 100n });
  expect(batchCosts.isWorthwhile(50)).toBe(false);
  expect(batchCosts.isWorthwhile(100)).toBe(false);
  expect(batchCosts.isWorthwhile(50)).toBe(true);
  batchCosts.learn({ gasUsed: 50n, singleGas: 100n });
  expect(batchCosts.ratio).toBe(0.5);
  expect(batchCosts.isWorthwhile(2)).toBe(true);
  expect(batchCosts.isWorthwhile(1)).toBe(false);
});
