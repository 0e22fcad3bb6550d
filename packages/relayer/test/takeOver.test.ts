import { setTimeout as sleep } from 'node:timers/promises';
import { encodeForwarderCall } from '@prism-gateway/contracts';
import { createRelayerClient } from '@prism-gateway/sdk';
import {
  type RelayerProcess,
  type RelayWorld,
  signWrite,
  startRelayerProcess,
  startRelayWorld,
} from '@prism-gateway/testing/relay';
import { createWalletClient, http, numberToHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';

const CHAIN_NAME = 'eip155:31337';
const FEE = 3000n * 10n ** 18n;
const LEASE_SECONDS = 1;

let world: RelayWorld;
let relayer: RelayerProcess | undefined;
beforeAll(async () => {
  const gatewayEnv = { CLAIM_LEASE_SECONDS: String(LEASE_SECONDS) };
  world = await startRelayWorld({ users: 2, relayers: 2, gatewayEnv });
});
afterAll(async () => {
  await relayer?.kill();
  await world?.[Symbol.asyncDispose]();
});

/** A write of a user's that the other relayer has claimed. */
async function claimByOther(user: number) {
  const params = await signWrite(world.deployment, world.users[user]!, {
    dataId: numberToHex(1, { size: 32 }),
    payload: '0xabcd',
    relayerFee: FEE,
    nonce: 1n,
    timestamp: BigInt(Math.floor(Date.now() / 1000) - 5),
  });
  const { requestId } = await world.client.submitRequest({ chainName: CHAIN_NAME, action: 'WRITE_DATA_FOR', params });
  const account = privateKeyToAccount(world.relayerKeys[1]!);
  await createRelayerClient({ url: world.gateway.url, account }).claim(requestId);
  return { requestId, params, account };
}

test('claims of a relayer that has gone silent are left where nothing else is asked for, and taken over with TAKE_OVER_SECONDS', async () => {
  const untouched = await claimByOther(0);
  const sent = await claimByOther(1);
  // It carried this one out, and died before its report.
  const { data } = encodeForwarderCall({ action: 'WRITE_DATA_FOR', params: sent.params });
  const wallet = createWalletClient({ account: sent.account, transport: http(world.devnet.rpcUrl) });
  const txHash = await wallet.sendTransaction({ to: world.deployment.forwarder, data, chain: null });
  await sleep(LEASE_SECONDS * 1000 + 100);

  const env = world.relayerEnv(0);
  relayer = await startRelayerProcess(env);
  await expect.poll(() => relayer?.output.some((line) => line.includes('"working"'))).toBe(true);
  await sleep(500);
  expect((await world.client.getRequest(untouched.requestId)).status).toBe('processing');
  await relayer.stop();

  relayer = await startRelayerProcess({ ...env, TAKE_OVER_SECONDS: String(LEASE_SECONDS) });
  const wait = (requestId: string) => world.client.waitForRequest(requestId, { timeoutMs: 20_000, pollIntervalMs: 50 });
  const claimedBy = privateKeyToAccount(world.relayerKeys[0]!).address;
  const done = await wait(untouched.requestId);
  expect(done).toMatchObject({ status: 'success', claimedBy });
  expect(await wait(sent.requestId)).toMatchObject({ status: 'success', claimedBy, txHash });
  expect(done.txHash).not.toBe(txHash);
  expect(await relayer.readMetric('prism_relayer_transactions_total')).toBe(1);
});
