import { expect, test } from 'vitest';
import { EXAMPLE_REQUESTS } from '../examples/index.ts';
import { createRequestParser } from '../requests/create.ts';
import { createMultiUserBatchParams } from './multiUserBatch.ts';

const entry = EXAMPLE_REQUESTS.WRITE_DATA_FOR.params;
const batch = { signer: entry.signer, timestamp: '1767225600', requests: [entry, { ...entry, relayerFee: '5' }] };

test('a batch pays what its entries pay together', () => {
  expect(createMultiUserBatchParams(batch).relayerFee).toBe(String(BigInt(entry.relayerFee) + 5n));
});

test('a batch has no signature of its own, and the service takes it', () => {
  const params = createMultiUserBatchParams(batch);
  expect(params).toMatchObject({ v: 0, r: `0x${'00'.repeat(32)}`, s: `0x${'00'.repeat(32)}` });
  const parse = createRequestParser({ maxBatchSize: 2 });
  expect(parse({ chainName: 'local', action: 'BATCH_MULTI_USER_WRITE_DATA', params })).toHaveProperty('value');
});
