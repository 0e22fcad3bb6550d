import { createLogger } from '@prism-gateway/runtime/logs';
import { PATIENCE_MS } from '@prism-gateway/testing/patience';
import { signWrite, startWorld, type World } from '@prism-gateway/testing/world';
import { numberToHex } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseSettings } from '../src/settings/settings.ts';
import { type RunningRelayer, startRelayer } from '../src/startRelayer.ts';

const FAST_BY_MS = 40_000;

let world: World;
let relayer: RunningRelayer | undefined;
beforeAll(async () => {
  world = await startWorld({ users: 1, relayers: 1, officialRelayers: 0, contracts: { priorityWindow: 2 } });
});
afterAll(async () => {
  await relayer?.stop();
  await world?.[Symbol.asyncDispose]();
});

// Shows RELAY-12.
test('a relayer whose clock is fast pays for no transaction that the Forwarder does not take yet', async () => {
  const mined: string[] = [];
  const write = (line: string) => void (line.includes('"mined"') && mined.push(line));
  const logger = createLogger({ level: 'info', now: Date.now, write });
  const settings = parseSettings({ ...world.relayerEnv(0), METRICS_PORT: 'off' });
  relayer = await startRelayer({ settings, logger, now: () => Date.now() + FAST_BY_MS, random: Math.random });
  const params = await signWrite(world.deployment, world.users[0]!, {
    ...{ dataId: numberToHex(1, { size: 32 }), payload: '0xabcd', relayerFee: 3000n * 10n ** 18n, nonce: 1n },
    timestamp: BigInt(Math.floor(Date.now() / 1000)),
  });
  const wish = { chainName: 'eip155:31337', action: 'WRITE_DATA_FOR', params } as const;
  const { requestId } = await world.client.submitRequest(wish);
  const done = await world.client.waitForRequest(requestId, { timeoutMs: PATIENCE_MS, pollIntervalMs: 50 });
  expect(done).toMatchObject({ status: 'success' });
  expect(mined).toHaveLength(1);
});
