import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import { type Program, startProgram, startWorld, type World } from '@prism-gateway/testing/world';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CHAIN_NAME, connect, sign } from './rig.ts';

const WRITES = 30;

let world: World;
let relayer: Program | undefined;
beforeAll(async () => {
  world = await startWorld({ users: 1, relayers: 1, chain: { blockTimeMs: 1000 } });
  relayer = await startProgram('relayer', { env: world.relayerEnv(0) });
});
afterAll(async () => {
  await relayer?.stop();
  await world?.[Symbol.asyncDispose]();
});

// Shows RELAY-21.
test('thirty writes of one signer are carried out in order, in at most three transactions', async () => {
  const timestamp = BigInt(Math.floor(Date.now() / 1000) - 5);
  const bodies = await Promise.all(
    Array.from({ length: WRITES }, async (_, index) => {
      const params = await sign(world, { user: 0, nonce: BigInt(index + 1), timestamp });
      return { chainName: CHAIN_NAME, action: 'WRITE_DATA_FOR', params } as const;
    }),
  );
  const records = await Promise.all(bodies.map((body) => world.client.submitRequest(body)));
  const ids = records.map(({ requestId }) => requestId);
  const ended = await world.client.waitForRequests(ids, { timeoutMs: TIMEOUT_MS, pollIntervalMs: 50 });
  expect(ended.map(({ status }) => status)).toEqual(ids.map(() => 'success'));
  // In the order of the nonces, whichever way they were posted.
  const client = connect(world);
  const hashes = [...new Set(ended.map(({ txHash }) => txHash as `0x${string}`))];
  const receipts = await Promise.all(hashes.map((hash) => client.getTransactionReceipt({ hash })));
  expect(receipts.length).toBeLessThanOrEqual(3);
  expect(receipts.every(({ status }) => status === 'success')).toBe(true);
  expect(await relayer!.readMetric('prism_relayer_transactions_total')).toBe(receipts.length);
});
