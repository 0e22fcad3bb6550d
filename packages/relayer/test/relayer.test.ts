import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { encodeForwarderCall, forwarderAbi } from '@prism-gateway/contracts';
import { testWalletAbi, testWalletBytecode } from '@prism-gateway/devnet/test-wallet';
import type { RequestRecord } from '@prism-gateway/protocol';
import { createRelayerClient } from '@prism-gateway/sdk';
import { listenOnLoopback } from '@prism-gateway/testing';
import { type Program, type ProgramEnv, startProgram, startWorld, type World } from '@prism-gateway/testing/world';
import { createWalletClient, http } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CHAIN_NAME, connect, post, sign, waitFor } from './rig.ts';

/** Each test has users of its own. */
const USERS = 24;
/** Users whose writes wait at the same time. */
const GATHERED = [9, 10, 11, 12, 13, 14, 20, 21, 22, 23];

let world: World;
let relayer: Program;
const env = (): ProgramEnv => ({
  ...world.relayerEnv(0),
  GIVE_UP_SECONDS: '1',
  POLL_MAX_MS: '300',
  UNKNOWN_WALLETS: 'true',
});
beforeAll(async () => {
  world = await startWorld({ users: USERS, relayers: 2 });
  relayer = await startProgram('relayer', { env: env() });
});
afterAll(async () => {
  await relayer?.kill();
  await world?.[Symbol.asyncDispose]();
});

const wait = (requestId: string): Promise<RequestRecord> => waitFor(world, requestId);
const checks = (verdict: string) => relayer.readMetric('prism_relayer_checks_total', `verdict="${verdict}"`);

// Shows RELAY-2.
test('what pays too little is left for others', async () => {
  const requestId = await post(world, { user: 0, fee: 10n ** 15n });
  await expect.poll(() => checks('fee')).toBeGreaterThan(0);
  expect(await world.client.getRequest(requestId)).toMatchObject({ status: 'pending' });
});

test('a request whose turn has not come waits for the one before it', async () => {
  const second = await post(world, { user: 1, nonce: 2n });
  await expect.poll(() => checks('nonceAhead')).toBeGreaterThan(0);
  const first = await post(world, { user: 1, nonce: 1n });
  expect((await wait(first)).status).toBe('success');
  expect((await wait(second)).status).toBe('success');
});

test.each([
  ['would revert', { user: 2, prismOf: 3 }, /^NotPrismOwner\(0x[0-9a-f]{64}, 0x[0-9a-fA-F]{40}\)$/],
  [
    'is out of nonce order',
    { user: 4, nonce: 9n },
    /^out of nonce order: signed for forwarder nonce 9 of 0x\w+, whose next one is 1$/,
  ],
  ['is past its window', { user: 5, ageSeconds: 200_000 }, /^RequestExpired\(\d+\)$/],
] as const)('one that %s is reported failed, and nothing is sent', async (_, write, reason) => {
  const sent = await relayer.readMetric('prism_relayer_transactions_total');
  const record = await wait(await post(world, write));
  expect(record.status).toBe('failed');
  expect(record.errorMessage).toMatch(reason);
  expect(await relayer.readMetric('prism_relayer_transactions_total')).toBe(sent);
});

// Shows CHAIN-19.
test('one whose nonce its signer has taken back is reported failed, with the transaction that did it', async () => {
  // One of the world's users.
  const { account } = world.users[19]!;
  const chain = connect(world);
  await chain.setBalance({ address: account.address, value: 10n ** 18n });
  const wallet = createWalletClient({ account, transport: http(world.devnet.rpcUrl) });
  const { forwarder } = world.deployment;
  const call = { address: forwarder, abi: forwarderAbi, functionName: 'invalidateNonce', chain: null } as const;
  const hash = await wallet.writeContract(call);
  await chain.waitForTransactionReceipt({ hash });
  const errorMessage = `its signer took back forwarder nonce 1, in ${hash}`;
  expect(await wait(await post(world, { user: 19 }))).toMatchObject({ status: 'failed', errorMessage });
});

// Shows RELAY-6.
test('a batch of which nothing can be written is reported failed', async () => {
  const entry = { ...(await sign(world, { user: 17 })), dataId: '0x0e' };
  const { cloudId, dataId, payload, ...shared } = entry;
  const params = { ...shared, requests: [entry, entry] };
  const action = 'BATCH_MULTI_USER_WRITE_DATA';
  const { requestId } = await world.client.submitRequest({ chainName: CHAIN_NAME, action, params });
  const errorMessage = `InvalidSignature(${entry.signer}, 1)`;
  expect(await wait(requestId)).toMatchObject({ status: 'failed', errorMessage });
});

// Shows RELAY-3.
test('requests that wait for a nonce that no open request has are given up, however many wait', async () => {
  const writes = [
    { user: 17, nonce: 8n },
    { user: 17, nonce: 9n },
    { user: 18, nonce: 8n, ageSeconds: 200_000 },
    { user: 18, nonce: 9n, ageSeconds: 200_000 },
  ];
  const ids = await Promise.all(writes.map(async (write) => await post(world, write)));
  const reasons = await Promise.all(ids.map(async (requestId) => (await wait(requestId)).errorMessage));
  const [aheadReason, expiredReason] = [/^out of nonce order/, /^RequestExpired/].map((text) =>
    expect.stringMatching(text),
  );
  expect(reasons).toEqual([aheadReason, aheadReason, expiredReason, expiredReason]);
});

// Shows RELAY-4.
test('what somebody else has carried out is reported with their transaction; a used nonce is not', async () => {
  const account = privateKeyToAccount(world.relayerKeys[1]!);
  const wallet = createWalletClient({ account, transport: http(world.devnet.rpcUrl) });
  const done = await sign(world, { user: 6, ageSeconds: 5 });
  const { data } = encodeForwarderCall({ action: 'WRITE_DATA_FOR', params: done });
  const txHash = await wallet.sendTransaction({ to: world.deployment.forwarder, data, chain: null });
  const posted = await world.client.submitRequest({ chainName: CHAIN_NAME, action: 'WRITE_DATA_FOR', params: done });
  expect(await wait(posted.requestId)).toMatchObject({ status: 'success', txHash });
  const rival = await wait(await post(world, { user: 6, prismOf: 7 }));
  expect(rival).toMatchObject({
    status: 'failed',
    errorMessage: `its forwarder nonce 1 was used by another request, in ${txHash}`,
  });
});

test('a contract wallet’s request is carried out if its code approves of the signature, and else reported failed', async () => {
  const owner = privateKeyToAccount(generatePrivateKey());
  const chain = connect(world);
  const deployer = privateKeyToAccount(world.relayerKeys[1]!);
  const contract = { abi: testWalletAbi, bytecode: testWalletBytecode, args: [owner.address] } as const;
  const hash = await chain.deployContract({ ...contract, account: deployer, chain: null });
  const { contractAddress } = await chain.waitForTransactionReceipt({ hash, pollingInterval: 50 });
  const bytecode = await chain.getCode({ address: contractAddress! });
  // The user's address becomes a wallet of that owner; its prism it has already.
  const { address } = world.users[16]!.account;
  await chain.setCode({ address, bytecode: bytecode! });
  expect((await wait(await post(world, { user: 16, by: owner }))).status).toBe('success');
  const stranger = privateKeyToAccount(generatePrivateKey());
  const byStranger = await wait(await post(world, { user: 16, by: stranger, nonce: 2n }));
  expect(byStranger).toMatchObject({ status: 'failed', errorMessage: `InvalidSignature(${address}, 2)` });
});

// Shows RELAY-8, RELAY-13.
test('after SIGTERM it ends what it has claimed; writes that wait are gathered; a lost journal loses no claim', async () => {
  expect(await relayer.stop()).toBe(0);
  const held = await post(world, { user: 8 });
  // As it would stand after a crash that took the disk, too.
  await createRelayerClient({ url: world.gateway.url, account: privateKeyToAccount(world.relayerKeys[0]!) }).claim(
    held,
  );
  // Of ten a relayer that does not know yet whether it has rivals claims three at once; of six by chance only one.
  const waiting = await Promise.all(GATHERED.map((user) => post(world, { user })));
  await rm(env().DATA_DIR!, { recursive: true });
  relayer = await startProgram('relayer', { env: env() });
  for (const requestId of [held, ...waiting]) expect((await wait(requestId)).status).toBe('success');
  const story = relayer.output.filter((line) => /"mined"|"warn"/.test(line)).join('\n');
  expect(await relayer.readMetric('prism_relayer_batched_writes_total'), story).toBeGreaterThan(1);
  const late = await post(world, { user: 15 });
  await expect.poll(() => relayer.readMetric('prism_relayer_claims_total', 'result="won"')).toBe(GATHERED.length + 1);
  expect(await relayer.stop()).toBe(0);
  expect(await world.client.getRequest(late)).toMatchObject({ status: 'success' });
  relayer = await startProgram('relayer', { env: env() });
});

// Shows RELAY-13.
test('it ends within its drain time while the gateway does not answer', async () => {
  const asked = Promise.withResolvers<void>();
  // Of its own claims it learns, of pending requests never.
  const hanging = createServer((request, response) => {
    if (request.url?.includes('status=processing')) response.end('{"items":[],"lastKey":null}');
    else asked.resolve();
  });
  const gateway = await listenOnLoopback(hanging);
  const other = await startProgram('relayer', {
    env: { ...world.relayerEnv(1), GATEWAY_URL: gateway.url, DRAIN_SECONDS: '0' },
  });
  await asked.promise;
  const startedAt = performance.now();
  expect(await other.stop()).toBe(0);
  // The call that is not answered would hold it up for 30 seconds.
  expect(performance.now() - startedAt).toBeLessThan(25_000);
  await gateway.close();
});

test('it refuses to start with a key and folder that another process uses, and without settings, and says why', async () => {
  // The other one is at work on the chain.
  await expect.poll(() => relayer.output.some((line) => line.includes('"working"'))).toBe(true);
  await expect(startProgram('relayer', { env: env() })).rejects.toThrow(/Another process uses this journal/);
  const twin = { ...env(), DATA_DIR: `${world.dir}/twin`, LOCK_DIR: env().DATA_DIR! };
  await expect(startProgram('relayer', { env: twin })).rejects.toThrow(/Another process sends with this key/);
  await expect(startProgram('relayer', { env: {} })).rejects.toThrow(/RELAYER_PRIVATE_KEY: required/);
});

test('neither key nor RPC URL stands in what it prints', () => {
  const printed = relayer.output.join('\n');
  expect(printed).not.toContain(world.relayerKeys[0]!.slice(2));
  expect(printed).not.toContain(world.devnet.rpcUrl);
});
