import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { startRpcFaultProxy } from '@prism-gateway/testing';
import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type PaymentsRig, type RigKey, startPaymentsRig } from '../scripts/demo/startPaymentsRig.ts';
import { waitUntil } from '../scripts/demo/waitUntil.ts';
import { computeCreditsOwed } from '../src/amounts/computeCredits.ts';
import { type Scene, startScene } from './rig/startScene.ts';

const RATE = 1000n;
const AMOUNT = 7_000_001n;

let rig: PaymentsRig;
let key: RigKey;

beforeAll(async () => {
  rig = await startPaymentsRig({ leaseMs: 500 });
});

afterAll(() => rig.close());

beforeEach(async () => {
  key = await rig.fundKey();
});

const start = (overrides: Readonly<Record<string, string>> = {}) => startScene(rig, { key, overrides });

/** An instance with an empty journal begins nothing while something of its key's is on its way. */
const waitForQuiet = ({ instance }: Scene) =>
  waitUntil(() => instance.log.lines.some(({ message }) => message === 'nothing is begun yet'), {
    timeoutMs: TIMEOUT_MS,
    what: 'it does not wait',
  });

function losePayments({ settings }: Scene): void {
  const file = join(settings.DATA_DIR ?? '', 'payments.db');
  for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
}

test("the journal of payments is lost, the sender's is not, and a buy is on its way: what is bought at another price has another name", async () => {
  let isDeaf = false;
  await using proxy = await startRpcFaultProxy({
    target: rig.rpcUrl,
    plan: (method) => (isDeaf && method === 'eth_sendRawTransaction' ? { kind: 'serverError' } : undefined),
  });
  const first = await start({ RPC_URL: proxy.url });
  first.add(AMOUNT);
  await first.waitForAll();
  isDeaf = true;
  const { paymentIntentId, walletAddress } = first.add(AMOUNT);
  await first.waitForState(paymentIntentId, 'buying');
  await waitUntil(() => (proxy.counts.get('eth_sendRawTransaction') ?? 0) > 3, {
    timeoutMs: TIMEOUT_MS,
    what: 'no buy',
  });
  await first.instance.stop();
  losePayments(first);
  await rig.setRate(995n);
  const second = await start({ RPC_URL: proxy.url });
  try {
    // What the first buy gives is not enough, so that there is another one.
    second.frontend.store.add({ paymentIntentId, walletAddress, stablecoinAmount: `${AMOUNT + 1n}` });
    await waitForQuiet(second);
    isDeaf = false;
    await second.waitForAll();
    expect(await rig.creditsOf(walletAddress)).toBe(computeCreditsOwed(AMOUNT + 1n, 995n));
    expect(second.instance.relayer.journal.hasAttempt(`buy:2:${paymentIntentId}`)).toBe(true);
  } finally {
    await rig.setRate(RATE);
    await second.instance.stop();
  }
});
