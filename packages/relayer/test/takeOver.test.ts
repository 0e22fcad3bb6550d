import { setTimeout as sleep } from 'node:timers/promises';
import { encodeForwarderCall } from '@prism-gateway/contracts';
import { testWalletAbi, testWalletBytecode } from '@prism-gateway/contracts/test-wallet';
import { createRelayerClient } from '@prism-gateway/sdk';
import { type RpcFaultPlan, startRpcFaultProxy } from '@prism-gateway/testing';
import {
  type RelayerProcess,
  type RelayWorld,
  signWrite,
  startRelayerProcess,
  startRelayWorld,
} from '@prism-gateway/testing/relay';
import { createTestClient, http, numberToHex, publicActions, walletActions } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';

const CHAIN_NAME = 'eip155:31337';
const FEE = 3000n * 10n ** 18n;
const LEASE_SECONDS = 1;
/** Blocks that the node allows in one query of logs, and blocks that come after what the other relayer carried out. */
const MAX_LOG_BLOCKS = 40n;
const LATER_BLOCKS = 100;

/** As providers do: queries of logs over too many blocks are refused. */
const limitLogs: RpcFaultPlan = (method, _, [filter]) => {
  if (method !== 'eth_getLogs') return undefined;
  const { fromBlock, toBlock } = filter as { readonly fromBlock: string; readonly toBlock: string };
  const isNarrow = toBlock !== 'latest' && BigInt(toBlock) - BigInt(fromBlock) < MAX_LOG_BLOCKS;
  return isNarrow ? undefined : { kind: 'error', code: -32_602, message: 'the range is too wide' };
};

let world: RelayWorld;
let relayer: RelayerProcess | undefined;
beforeAll(async () => {
  const gatewayEnv = { CLAIM_LEASE_SECONDS: String(LEASE_SECONDS) };
  world = await startRelayWorld({ users: 3, relayers: 2, gatewayEnv });
});
afterAll(async () => {
  await relayer?.kill();
  await world?.[Symbol.asyncDispose]();
});

const connect = () =>
  createTestClient({ mode: 'anvil', transport: http(world.devnet.rpcUrl), pollingInterval: 50 })
    .extend(publicActions)
    .extend(walletActions);
const other = () => privateKeyToAccount(world.relayerKeys[1]!);

/** A write of a user's that the other relayer has claimed. @param by - whose key signs; default the user's own */
async function claimByOther(user: number, by?: PrivateKeyAccount) {
  const { account, cloudId } = world.users[user]!;
  const signing = by === undefined ? account : { ...by, address: account.address };
  const params = await signWrite(
    world.deployment,
    { account: signing, cloudId },
    {
      dataId: numberToHex(1, { size: 32 }),
      payload: '0xabcd',
      relayerFee: FEE,
      nonce: 1n,
      timestamp: BigInt(Math.floor(Date.now() / 1000) - 5),
    },
  );
  const { requestId } = await world.client.submitRequest({ chainName: CHAIN_NAME, action: 'WRITE_DATA_FOR', params });
  await createRelayerClient({ url: world.gateway.url, account: other() }).claim(requestId);
  return { requestId, params };
}

/** The other relayer carries a write out, and dies before its report. */
async function carryOut({ params }: Awaited<ReturnType<typeof claimByOther>>) {
  const { data } = encodeForwarderCall({ action: 'WRITE_DATA_FOR', params });
  const chain = connect();
  const hash = await chain.sendTransaction({ to: world.deployment.forwarder, data, account: other(), chain: null });
  expect(await chain.waitForTransactionReceipt({ hash })).toMatchObject({ status: 'success' });
  return hash;
}

/** Makes a user's address a contract wallet. @returns its owner */
async function becomeWallet(user: number): Promise<PrivateKeyAccount> {
  const owner = privateKeyToAccount(generatePrivateKey());
  const chain = connect();
  const contract = { abi: testWalletAbi, bytecode: testWalletBytecode, args: [owner.address] } as const;
  const hash = await chain.deployContract({ ...contract, account: other(), chain: null });
  const { contractAddress } = await chain.waitForTransactionReceipt({ hash });
  const bytecode = await chain.getCode({ address: contractAddress! });
  await chain.setCode({ address: world.users[user]!.account.address, bytecode: bytecode! });
  return owner;
}

test('claims of a relayer that has gone silent are left where nothing else is asked for, and taken over with TAKE_OVER_SECONDS', async () => {
  const untouched = await claimByOther(0);
  const sent = await claimByOther(1);
  const txHash = await carryOut(sent);
  const ofWallet = await claimByOther(2, await becomeWallet(2));
  const walletTxHash = await carryOut(ofWallet);
  await connect().mine({ blocks: LATER_BLOCKS });
  await sleep(LEASE_SECONDS * 1000 + 100);

  await using proxy = await startRpcFaultProxy({ target: world.devnet.rpcUrl, plan: limitLogs });
  const env = world.relayerEnv(0, proxy.url);
  relayer = await startRelayerProcess(env);
  await expect.poll(() => relayer?.output.some((line) => line.includes('"working"'))).toBe(true);
  await sleep(500);
  expect((await world.client.getRequest(untouched.requestId)).status).toBe('processing');
  await relayer.stop();

  relayer = await startRelayerProcess({ ...env, TAKE_OVER_SECONDS: String(LEASE_SECONDS), GIVE_UP_SECONDS: '1' });
  const wait = (requestId: string) => world.client.waitForRequest(requestId, { timeoutMs: 20_000, pollIntervalMs: 50 });
  const claimedBy = privateKeyToAccount(world.relayerKeys[0]!).address;
  const done = await wait(untouched.requestId);
  expect(done).toMatchObject({ status: 'success', claimedBy });
  expect(await wait(sent.requestId)).toMatchObject({ status: 'success', claimedBy, txHash });
  // No nonce of a wallet's can be recovered from its signature.
  expect(await wait(ofWallet.requestId)).toMatchObject({ status: 'success', claimedBy, txHash: walletTxHash });
  expect(done.txHash).not.toBe(txHash);
  expect(await relayer.readMetric('prism_relayer_transactions_total')).toBe(1);
  await relayer.stop();
});
