import { ACTIONS, REQUEST_STATUSES } from '@prism-gateway/protocol';
import { anyRequestArbitrary } from '@prism-gateway/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { StoredRequest } from '../ports/requestStore.ts';
import { formatTime, renderRecord } from './render.ts';

const time = fc.integer({ min: 0, max: Date.parse('9999-12-31T23:59:59.999Z') });
const address = fc.stringMatching(/^0x[0-9a-fA-F]{40}$/);
const body = anyRequestArbitrary({ maxBatchSize: 3 });

const record: fc.Arbitrary<StoredRequest> = fc
  .record(
    {
      requestId: fc.uuid({ version: 7 }),
      body,
      signer: address,
      action: fc.constantFrom(...ACTIONS),
      status: fc.constantFrom(...REQUEST_STATUSES),
      createdAt: time,
      updatedAt: time,
      txHash: fc.stringMatching(/^0x[0-9a-f]{64}$/),
      errorMessage: fc.oneof(
        fc.string({ unit: 'binary', minLength: 1 }),
        fc.constantFrom('"', '\\', '\n\u2028', '\ud800', '</script>'),
      ),
      claimedBy: address,
      claimedAt: time,
    },
    { requiredKeys: ['requestId', 'body', 'signer', 'action', 'status', 'createdAt', 'updatedAt'] },
  )
  .map(({ body: { chainName, params }, ...rest }) => ({ ...rest, chainName, paramsJson: JSON.stringify(params) }));

const timeText = (ms: number) => new Date(ms).toISOString();

test('is what JSON.stringify makes of the same record, field for field in the same order', () => {
  fc.assert(
    fc.property(record, (stored) => {
      const { requestId, chainName, action, signer, status, createdAt, updatedAt, claimedAt } = stored;
      const { txHash, errorMessage, claimedBy } = stored;
      const params: unknown = JSON.parse(stored.paramsJson);
      const times = { createdAt: timeText(createdAt), updatedAt: timeText(updatedAt) };
      const claimed = { claimedBy, ...(claimedAt !== undefined && { claimedAt: timeText(claimedAt) }) };
      const plain = {
        requestId,
        chainName,
        action,
        signer,
        status,
        params,
        ...times,
        txHash,
        errorMessage,
        ...claimed,
      };
      expect(renderRecord(stored)).toBe(JSON.stringify(plain));
    }),
    { numRuns: 500 },
  );
});

test('writes what Date writes, whatever came before', () => {
  const lastMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: lastMs }), { minLength: 1 }), (times) => {
      for (const ms of times) expect(formatTime(ms)).toBe(new Date(ms).toISOString());
    }),
  );
});

test.each([0, 999, 86_399_999, 86_400_000, Date.UTC(2024, 1, 29, 23, 59, 59, 999)])('the edge %i', (ms) => {
  expect(formatTime(ms)).toBe(new Date(ms).toISOString());
});
