import { expect, onTestFinished, test } from 'vitest';
import { startReferenceFrontend } from './startReferenceFrontend.ts';

const LEASE_MS = 60_000;
const payment = {
  paymentIntentId: 'pi_1',
  walletAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  stablecoinAmount: '5000000',
} as const;

async function startFrontend() {
  const clock = { nowMs: 1_767_225_600_000 };
  const options = { file: ':memory:', secret: 'only for this test', leaseMs: () => LEASE_MS, now: () => clock.nowMs };
  const { url, store, close } = await startReferenceFrontend(options);
  onTestFinished(close);
  store.add(payment);
  const call = async (path: string, body?: unknown, secret = options.secret) => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(`${url}/api/relayer/${path}`, { ...init, headers: { 'x-relayer-secret': secret } });
    return { status: response.status, body: await response.json() };
  };
  return { call, clock };
}

// Shows FRONT-1, FRONT-2.
test('a payment is pending unless it is under a claim, and again when the claim has ended', async () => {
  const { call, clock } = await startFrontend();
  const { paymentIntentId } = payment;
  expect(await call('pending')).toEqual({ status: 200, body: { payments: [payment] } });
  expect((await call('claim', { paymentIntentId })).status).toBe(200);
  expect((await call('claim', { paymentIntentId })).status).toBe(409);
  expect((await call('claim', { paymentIntentId: 'pi_2' })).status).toBe(404);
  expect(await call('pending')).toEqual({ status: 200, body: { payments: [] } });
  clock.nowMs += LEASE_MS;
  expect(await call('pending')).toEqual({ status: 200, body: { payments: [payment] } });
});

// Shows FRONT-3.
test('a payment is completed once, and told again for the same transaction alone', async () => {
  const { call, clock } = await startFrontend();
  const { paymentIntentId } = payment;
  const txHash = `0x${'11'.repeat(32)}`;
  expect((await call('complete', { paymentIntentId, txHash })).status).toBe(200);
  expect((await call('complete', { paymentIntentId, txHash })).status).toBe(200);
  expect((await call('complete', { paymentIntentId, txHash: `0x${'22'.repeat(32)}` })).status).toBe(409);
  clock.nowMs += LEASE_MS;
  expect(await call('pending')).toEqual({ status: 200, body: { payments: [] } });
});

test('a wrong secret is 401', async () => {
  const { call } = await startFrontend();
  expect((await call('pending', undefined, 'another')).status).toBe(401);
});
