import { createLogger } from '@prism-gateway/node/logs';
import { startWorld, type World } from '@prism-gateway/testing/world';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseSettings } from '../src/settings/settings.ts';
import { type RunningRelayer, startRelayer } from '../src/startRelayer.ts';
import { post, waitFor } from './rig.ts';

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
  const done = await waitFor(world, await post(world, { user: 0, ageSeconds: 0 }));
  expect(done).toMatchObject({ status: 'success' });
  expect(mined).toHaveLength(1);
});
