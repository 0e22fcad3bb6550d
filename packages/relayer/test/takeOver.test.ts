import { setTimeout as sleep } from 'node:timers/promises';
import { encodeForwarderCall } from '@prism-gateway/contracts';
import { testWalletAbi, testWalletBytecode } from '@prism-gateway/devnet/test-wallet';
import type { Action, ActionParams } from '@prism-gateway/protocol';
import { createSignedParams, createTypedData } from '@prism-gateway/protocol/typed-data';
import { createRelayerClient } from '@prism-gateway/sdk';
import { type RpcFaultPlan, startRpcFaultProxy } from '@prism-gateway/testing';
import { type Program, startProgram, startWorld, type World } from '@prism-gateway/testing/world';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CHAIN_NAME, connect, LONG, sign, type Write, waitFor } from './rig.ts';

const LEASE_SECONDS = 3;
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

let world: World;
let relayer: Program | undefined;
beforeAll(async () => {
  const gatewayEnv = { CLAIM_LEASE_SECONDS: String(LEASE_SECONDS) };
  world = await startWorld({ users: 7, relayers: 2, gateway: gatewayEnv });
});
afterAll(async () => {
  await relayer?.kill();
  await world?.[Symbol.asyncDispose]();
});

const other = () => privateKeyToAccount(world.relayerKeys[1]!);

async function claim<A extends Action>(action: A, params: ActionParams<A>, account = other()): Promise<string> {
  const { requestId } = await world.client.submitRequest({ chainName: CHAIN_NAME, action, params });
  await createRelayerClient({ url: world.gateway.url, account }).claim(requestId);
  return requestId;
}

/** A write of a user's that the other relayer has claimed. */
async function claimWrite(write: Write) {
  const params = await sign(world, write);
  return { requestId: await claim('WRITE_DATA_FOR', params), params };
}

interface Creation {
  readonly user: number;
  readonly ageSeconds: number;
  /** Who has claimed it; default the other relayer. */
  readonly account?: PrivateKeyAccount;
}

/** A creation of a user's that asks its relayer for a credit, and is claimed. */
async function claimSponsored({ user, ageSeconds, account: claimant }: Creation) {
  const { chainId, forwarder } = world.deployment;
  const { account } = world.users[user]!;
  const action = 'CREATE_PRISM_FOR';
  const timestamp = String(Math.floor(Date.now() / 1000) - ageSeconds);
  const params = { fundAmount: '0', relayerFundAmount: String(10n ** 18n), salt: '0x07', relayerFee: '1', timestamp };
  const typedData = createTypedData({ action, params, nonce: 1n, chainId, forwarder });
  const signature = await account.signTypedData(typedData);
  return await claim(action, createSignedParams({ action, params, signer: account.address, signature }), claimant);
}

/** The other relayer carries a write out, and dies before its report. */
async function carryOut({ params }: Awaited<ReturnType<typeof claimWrite>>) {
  const { data } = encodeForwarderCall({ action: 'WRITE_DATA_FOR', params });
  const chain = connect(world);
  const hash = await chain.sendTransaction({ to: world.deployment.forwarder, data, account: other(), chain: null });
  expect(await chain.waitForTransactionReceipt({ hash })).toMatchObject({ status: 'success' });
  return hash;
}

/** Makes a user's address a contract wallet. @returns its owner */
async function becomeWallet(user: number): Promise<PrivateKeyAccount> {
  const owner = privateKeyToAccount(generatePrivateKey());
  const chain = connect(world);
  const contract = { abi: testWalletAbi, bytecode: testWalletBytecode, args: [owner.address] } as const;
  const hash = await chain.deployContract({ ...contract, account: other(), chain: null });
  const { contractAddress } = await chain.waitForTransactionReceipt({ hash });
  const bytecode = await chain.getCode({ address: contractAddress! });
  await chain.setCode({ address: world.users[user]!.account.address, bytecode: bytecode! });
  return owner;
}

// Shows RELAY-9, RELAY-11, RELAY-19.
test('claims of a relayer that has gone silent are taken over a third of a lease after their end, and not before', async () => {
  const untouched = await claimWrite({ user: 0 });
  const sent = await claimWrite({ user: 1 });
  const txHash = await carryOut(sent);
  const ofWallet = await claimWrite({ user: 2, by: await becomeWallet(2) });
  const walletTxHash = await carryOut(ofWallet);
  const cheap = await claimWrite({ user: 3, fee: 1n });
  const sponsored = await claimSponsored({ user: 4, ageSeconds: 5 });
  const expired = await claimSponsored({ user: 5, ageSeconds: 90_000 });
  const reverting = await claimWrite({ user: 6, prismOf: 3 });
  await connect(world).mine({ blocks: LATER_BLOCKS });
  await sleep((LEASE_SECONDS * 4000) / 3 + 100);

  await using proxy = await startRpcFaultProxy({ target: world.devnet.rpcUrl, plan: limitLogs });
  const env = world.relayerEnv(0, proxy.url);
  relayer = await startProgram('relayer', { env });
  await expect.poll(() => relayer?.output.some((line) => line.includes('"working"'))).toBe(true);
  await sleep(500);
  expect((await world.client.getRequest(untouched.requestId)).status).toBe('processing');
  await relayer.stop();

  // As it would stand after its policy was changed, and its disk lost.
  const own = privateKeyToAccount(world.relayerKeys[0]!);
  const forbidden = await claimSponsored({ user: 5, ageSeconds: 5, account: own });

  relayer = await startProgram('relayer', {
    env: { ...env, CLAIM_LEASE_SECONDS: String(LEASE_SECONDS), GIVE_UP_SECONDS: '0' },
  });
  const wait = (requestId: string) => waitFor(world, requestId);
  const claimedBy = own.address;
  const done = await wait(untouched.requestId);
  expect(done).toMatchObject({ status: 'success', claimedBy });
  expect(await wait(sent.requestId)).toMatchObject({ status: 'success', claimedBy, txHash });
  // No nonce of a wallet's can be recovered from its signature.
  expect(await wait(ofWallet.requestId)).toMatchObject({ status: 'success', claimedBy, txHash: walletTxHash });
  expect(done.txHash).not.toBe(txHash);
  expect(await relayer.readMetric('prism_relayer_transactions_total')).toBe(1);

  const failed = { status: 'failed', claimedBy };
  expect(await wait(reverting.requestId)).toMatchObject({
    ...failed,
    errorMessage: expect.stringMatching(/^NotPrismOwner/),
  });
  expect(await wait(expired)).toMatchObject({ ...failed, errorMessage: expect.stringMatching(/^RequestExpired/) });
  // Another relayer may carry it out.
  const readForbidden = () => world.client.getRequest(forbidden);
  await expect.poll(readForbidden, LONG).toMatchObject({ status: 'pending' });
  // What it would have left while it was pending it leaves now, and has nothing under way at the end.
  for (const requestId of [cheap.requestId, sponsored]) {
    expect(await world.client.getRequest(requestId)).toMatchObject({
      status: 'processing',
      claimedBy: other().address,
    });
  }
  expect(await relayer.readMetric('prism_relayer_in_flight')).toBe(0);
});
