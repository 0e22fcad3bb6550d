import { join } from 'node:path';
import type { Alert } from '@prism-gateway/alerts';
import { createFakeClock, createLogRecorder, startBlackHole } from '@prism-gateway/testing';
import { PATIENCE_MS } from '@prism-gateway/testing/patience';
import { createPublicClient, http } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PaymentsRig, startPaymentsRig } from '../scripts/demo/startPaymentsRig.ts';
import { createMonitor } from '../src/monitor/createMonitor.ts';
import { readMonitorState, writeMonitorState } from '../src/monitor/monitorState.ts';

const ETHER = 10n ** 18n;
const DAY_MS = 86_400_000;

let rig: PaymentsRig;

beforeAll(async () => {
  rig = await startPaymentsRig();
});

afterAll(() => rig.close());

/** A monitor whose memory is a file, as after a restart. */
async function open(rpcUrl: string, timeoutMs = PATIENCE_MS) {
  const clock = createFakeClock();
  const { address } = await rig.fundKey();
  const file = join(rig.dir, `monitor-${address}.json`);
  const alerts: Alert[] = [];
  const settled: ((isTold: boolean) => void)[] = [];
  const alerter = {
    raise(alert: Alert, onSettled: (isTold: boolean) => void = () => undefined) {
      alerts.push(alert);
      settled.push(onSettled);
    },
    drain: async () => undefined,
    close: () => undefined,
  };
  const client = createPublicClient({ transport: http(rpcUrl, { timeout: timeoutMs, retryCount: 0 }) });
  const { stablecoin, exchange } = rig.deployment;
  const monitorOf = (state: ReturnType<typeof readMonitorState>) =>
    createMonitor({
      targets: [
        {
          name: 'devnet',
          client,
          addresses: [address],
          tokens: { stablecoin, exchange },
          unit: { name: 'payments', transactions: 2 },
        },
      ],
      warnBelow: ETHER / 10n,
      warnStablecoinsBelow: 1n,
      state,
      alerter,
      log: createLogRecorder(),
      now: clock.now,
    });
  let state = readMonitorState(file);
  let monitor = monitorOf(state);
  const restart = () => {
    writeMonitorState(file, state);
    state = readMonitorState(file);
    monitor = monitorOf(state);
  };
  /** Looks once, and has what is raised taken, given up, or left on its way. */
  const look = async (end: 'taken' | 'given up' | 'on its way' = 'taken') => {
    await monitor();
    if (end !== 'on its way') for (const settle of settled.splice(0)) settle(end === 'taken');
    return alerts.splice(0).map(({ code, subject }) => (subject.startsWith('Reminder') ? `${code} again` : code));
  };
  return { address, clock, look, restart };
}

// Shows GAS-1.
test('one alert a crossing, a reminder a day and a recovery, across restarts', async () => {
  const { address, clock, look, restart } = await open(rig.rpcUrl);
  expect(await look()).toEqual(['APPROVAL_LOW']);
  await rig.client.setBalance({ address, value: ETHER / 10n - 1n });
  expect(await look()).toEqual(['GAS_BALANCE_LOW']);
  restart();
  expect(await look()).toEqual([]);
  clock.advance(DAY_MS);
  expect(await look()).toEqual(['GAS_BALANCE_LOW again', 'APPROVAL_LOW again']);
  await rig.client.setBalance({ address, value: ETHER / 10n });
  expect(await look()).toEqual(['GAS_BALANCE_RECOVERED']);
  expect(await look()).toEqual([]);
});

// Shows GAS-2.
test('what no channel has taken is told again, after a restart too, and not while it is on its way', async () => {
  const { address, look, restart } = await open(rig.rpcUrl);
  expect(await look()).toEqual(['APPROVAL_LOW']);
  await rig.client.setBalance({ address, value: ETHER / 10n - 1n });
  expect(await look('on its way')).toEqual(['GAS_BALANCE_LOW']);
  expect(await look('on its way')).toEqual([]);
  restart();
  expect(await look('given up')).toEqual(['GAS_BALANCE_LOW']);
  expect(await look()).toEqual(['GAS_BALANCE_LOW']);
  restart();
  expect(await look()).toEqual([]);
});

// Shows GAS-3.
test('a node that does not answer is an alert of its own, the second time and once', async () => {
  await using hole = await startBlackHole();
  const { look } = await open(hole.url, 200);
  expect([await look(), await look(), await look()]).toEqual([[], ['RPC_UNREACHABLE'], []]);
});
