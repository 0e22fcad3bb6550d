import { encodeForwarderCall } from '@prism-gateway/contracts';
import { deployContracts, startDevnet } from '@prism-gateway/devnet';
import { createRecoverSigner } from '@prism-gateway/node/accounts';
import { createRpcClient } from '@prism-gateway/node/rpc';
import { createPrisms, signWrite } from '@prism-gateway/testing/world';
import { createTestClient, type Hex, http, numberToHex, publicActions, walletActions } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createChainRpc } from '../chain/createChainRpc.ts';
import { createFindingCheck } from './createFindingCheck.ts';
import { isFalseFailure, type ReportedFailure, readNewestBlock } from './evaluateFailure.ts';
import type { Finding } from './finding.ts';

const CREDITS = 10n ** 24n;
const FEE = 10n ** 21n;
const FORGIVES_ALL = '0x631626ba7e60e01b60005260206000f3';
const recoverSigner = createRecoverSigner();
let scene: Awaited<ReturnType<typeof setUp>>;

async function setUp() {
  const devnet = await startDevnet({ accounts: 3 });
  const [sponsorKey, relayerKey, otherKey] = devnet.privateKeys as [Hex, Hex, Hex];
  const [relayer, other] = [relayerKey, otherKey].map((key) => privateKeyToAccount(key)) as [Relayer, Relayer];
  const { rpcUrl } = devnet;
  const officialRelayers = [sponsorKey, relayerKey, otherKey].map((key) => privateKeyToAccount(key).address);
  const deployment = await deployContracts({ rpcUrl, privateKey: sponsorKey, officialRelayers });
  const accounts = Array.from({ length: 10 }, (_, index) => privateKeyToAccount(numberToHex(index + 1, { size: 32 })));
  const users = await createPrisms({ rpcUrl, deployment, sponsorKey, accounts, credits: CREDITS });
  const chain = createTestClient({ mode: 'anvil', transport: http(rpcUrl), pollingInterval: 20 })
    .extend(publicActions)
    .extend(walletActions);
  const ending = new AbortController();
  const options = { now: Date.now, random: () => 0, onFallback: () => undefined, signal: ending.signal };
  const rpc = createChainRpc({ clients: [createRpcClient({ rpcUrl })], ...options });
  const forwarder = deployment.forwarder.toLowerCase() as Hex;
  return { devnet, deployment, users, chain, rpc, forwarder, relayer, other, stop: () => ending.abort() };
}
type Relayer = ReturnType<typeof privateKeyToAccount>;

beforeAll(async () => {
  scene = await setUp();
});
afterAll(async () => {
  scene.stop();
  await scene.devnet[Symbol.asyncDispose]();
});

/** Lets time pass, in a block. */
async function pass(seconds: number): Promise<bigint> {
  await scene.chain.increaseTime({ seconds });
  await scene.chain.mine({ blocks: 1 });
  return (await scene.chain.getBlock()).timestamp;
}

/** The events of a user's write between its claim and the report that it has failed. */
interface Course {
  readonly user: number;
  readonly prismOf?: number;
  readonly nonce?: bigint;
  readonly expiresIn?: bigint;
  /** The forwarder nonce of an earlier request of the same user, which is open all the time. */
  readonly open?: bigint;
  /** The forwarder nonce of another user, signed beside it, in a batch. */
  readonly openBeside?: bigint;
  /** Right before the claim, or after it. */
  readonly before?: () => Promise<unknown>;
  readonly after?: (request: ReportedFailure['request']) => Promise<unknown>;
}

async function play({
  user,
  prismOf = user,
  nonce = 1n,
  expiresIn = 86_400n,
  open,
  openBeside,
  before,
  after,
}: Course) {
  const { deployment, users, relayer, rpc, forwarder } = scene;
  const timestamp = await pass(200);
  const wish = { payload: '0xabcd', relayerFee: FEE, timestamp } as const;
  const sign = async (dataId: bigint, signedFor: bigint, by = user) => {
    const own = { ...wish, dataId: numberToHex(dataId, { size: 32 }), nonce: signedFor } as const;
    // Both are among the users.
    const params = await signWrite(deployment, { ...users[by]!, cloudId: users[prismOf]!.cloudId }, own);
    return { action: 'WRITE_DATA_FOR', params } as const;
  };
  const request = await sign(timestamp, nonce);
  const earlier: ReportedFailure['request'][] = open === undefined ? [] : [await sign(0n, open)];
  if (openBeside !== undefined) {
    const requests = [await sign(0n, open ?? 1n), await sign(0n, openBeside, 0)].map(({ params }) => params);
    const params = { signer: requests[0]!.signer, requests };
    earlier.splice(0, 1, { action: 'BATCH_MULTI_USER_WRITE_DATA', params } as ReportedFailure['request']);
  }
  await pass(120);
  await before?.();
  const claimedSeconds = await pass(5);
  await after?.(request);
  const endedSeconds = await pass(10);
  await pass(2);
  const times = { claimedSeconds, endedSeconds, expiresSeconds: endedSeconds + expiresIn };
  const failure: ReportedFailure = {
    ...{ request, relayer: relayer.address.toLowerCase() as Hex, ...times },
    listOpenBefore: async () => earlier,
  };
  const node = { rpc, forwarder, chainId: deployment.chainId, recoverSigner };
  return { failure, isFalse: await isFalseFailure(node, failure, await readNewestBlock(rpc)) };
}

async function send(account: Relayer, request: ReportedFailure['request'], gas?: bigint): Promise<Hex> {
  const { chain, forwarder } = scene;
  const { data } = encodeForwarderCall(request);
  const hash = await chain.sendTransaction({ account, to: forwarder, data, chain: null, ...(gas && { gas }) });
  await chain.waitForTransactionReceipt({ hash });
  return hash;
}

/** Another relayer carries out a write of a user's, signed for the nonce that it has. */
async function useNonce(user: number, nonce: bigint): Promise<void> {
  const { deployment, users, other, chain } = scene;
  const { timestamp } = await chain.getBlock();
  const dataId = numberToHex(9, { size: 32 });
  const wish = { dataId, payload: '0x', relayerFee: FEE, nonce, timestamp } as const;
  const params = await signWrite(deployment, users[user]!, wish);
  await send(other, { action: 'WRITE_DATA_FOR', params });
}

// Shows WATCH-7.
test('who reports failed what would have been carried out all the time has lied', async () => {
  expect((await play({ user: 0 })).isFalse).toBe(true);
});

// Shows WATCH-7.
test('who fails what waits for an earlier request of its signer, which is open, has lied', async () => {
  expect((await play({ user: 1, nonce: 3n, open: 1n })).isFalse).toBe(true);
  expect((await play({ user: 1, nonce: 3n, open: 1n, openBeside: 1n })).isFalse).toBe(true);
});

// Shows WATCH-7.
test.each([
  ['what reverts, as a write to somebody else’s prism', () => ({ user: 1, prismOf: 2 })],
  ['what is signed for a later nonce', () => ({ user: 1, nonce: 9n })],
  ['what waits for a nonce that no open request has', () => ({ user: 1, nonce: 9n, open: 2n })],
  [
    'what waits for a nonce of a batch that may wait for it in turn',
    () => ({ user: 1, nonce: 3n, open: 1n, openBeside: 2n }),
  ],
  [
    'what waits for a nonce that was another one when its claimer looked',
    () => ({ user: 2, nonce: 4n, open: 2n, before: () => useNonce(2, 1n) }),
  ],
  ['what is about to expire by a clock that is fast', () => ({ user: 1, expiresIn: 100n })],
  [
    'what another relayer carries out after the claim',
    () => ({ user: 3, after: (request: ReportedFailure['request']) => send(scene.other, request) }),
  ],
  [
    'what it has tried itself, in vain',
    () => ({ user: 4, after: (request: ReportedFailure['request']) => send(scene.relayer, request, 60_000n) }),
  ],
  [
    'what became possible so shortly before the claim that a node may not have known it',
    () => ({
      user: 5,
      nonce: 2n,
      before: () => useNonce(5, 1n),
    }),
  ],
  [
    'what its signer’s own code decides about',
    () => ({
      user: 6,
      before: async () =>
        await scene.chain.setCode({ address: scene.users[6]!.account.address, bytecode: FORGIVES_ALL }),
    }),
  ],
] as const)('nobody is accused of failing %s', async (_, course) => {
  expect((await play(course())).isFalse).toBe(false);
});

/** The nodes' joint verdict on an accusation. */
async function check({ failure, txHash }: { failure: ReportedFailure; txHash?: Hex }, nodes: readonly Rpc[]) {
  const { forwarder, deployment, chain } = scene;
  const block = await chain.getBlockNumber({ cacheTime: 0 });
  const { relayer } = failure;
  const finding: Finding = { kind: 'falseFailure', requestId: 'r', relayer, txHash, block, text: '' };
  const known = { named: undefined, claimNonce: undefined, isOf: () => true, isWatched: true };
  const report = { ...failure, reportedSeconds: failure.endedSeconds, ...known };
  const { listOpenBefore } = failure;
  const chainId = deployment.chainId;
  const reported = { listOpenBefore: async (_: string, signer: Hex) => await listOpenBefore(signer) };
  const options = { nodes, chainId, forwarder, recoverSigner, ...reported };
  return await createFindingCheck(options)({ finding, report });
}
type Rpc = (typeof scene)['rpc'];

// Shows WATCH-7.
test.each([
  ['that could have been all the time', { user: 8 }, 'confirmed'],
  ['that was posted again, and whose turn came only then', { user: 9, nonce: 2n }, 'refuted'],
] as const)('of a failed request that its reporter carries out later, one %s', async (_, course, word) => {
  const { failure } = await play(course);
  if (word === 'refuted') await useNonce(course.user, 1n);
  const txHash = await send(scene.relayer, failure.request);
  expect(await check({ failure, txHash }, [scene.rpc, scene.rpc])).toBe(word);
});

// Shows WATCH-7.
test('who reports failed what it has carried out has lied', async () => {
  const { failure } = await play({ user: 1 });
  const txHash = await send(scene.relayer, failure.request);
  const endedSeconds = await pass(10);
  expect(await check({ failure: { ...failure, endedSeconds }, txHash }, [scene.rpc, scene.rpc])).toBe('confirmed');
});

// Shows WATCH-3.
test('two nodes have to say so: one alone, or two that differ, accuse nobody', async () => {
  const { failure } = await play({ user: 7 });
  const { rpc } = scene;
  const refuses: Rpc = { ...rpc, attempt: async () => ({ reverted: undefined }) };
  const silent: Rpc = {
    ...rpc,
    attempt: async () => await rpc.read(['no_such_method'], () => ({ reverted: undefined })),
  };
  const say = (...nodes: Rpc[]) => check({ failure }, nodes);
  expect(await say(rpc, rpc)).toBe('confirmed');
  expect(await say(rpc, rpc, refuses)).toBe('confirmed');
  expect(await say(rpc, refuses)).toBe('unknown');
  expect(await say(rpc, silent)).toBe('unknown');
  expect(await say(rpc, refuses, refuses)).toBe('refuted');
});
