import { encodeForwarderCall } from '@prism-gateway/contracts';
import { deployContracts, startDevnet } from '@prism-gateway/devnet';
import { createRpcClient } from '@prism-gateway/node/rpc';
import type { ActionParams } from '@prism-gateway/protocol';
import { createSignedParams, createTypedData, type SignedAction } from '@prism-gateway/protocol/typed-data';
import { quoteFee } from '@prism-gateway/sdk';
import { installArbitrum, installOpStack } from '@prism-gateway/testing/rollups';
import { createPrisms, type PrismUser } from '@prism-gateway/testing/world';
import { createPublicClient, createTestClient, createWalletClient, type Hex, http, numberToHex, parseGwei } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createChainReader } from '../src/chain/chainReader.ts';
import { type ChainRpc, createChainRpc } from '../src/chain/createChainRpc.ts';
import { checkRequest } from '../src/checks/checkRequest.ts';
import { makeContext } from './makeContext.ts';

const CREDIT = 10n ** 18n;
const CREDITS_PER_ETH = 3_000_000n * CREDIT;
const MARGIN_PERCENT = 10;
/** Entries stored before the quotes are made. */
const STORED = 3;
const USER_KEYS = ['0x11', '0x22'].map((byte) => byte.padEnd(66, '7') as Hex);

interface Quoted {
  readonly action: SignedAction;
  readonly input: object;
}

const id = (index: number) => numberToHex(index, { size: 32 });
const bytes = (size: number, seed: number): Hex =>
  `0x${Array.from({ length: size }, (_, at) => ((at * 31 + seed * 7) % 256).toString(16).padStart(2, '0')).join('')}`;

/** Actions of all sizes: the gas of each is another. */
function listActions(cloudId: Hex): readonly Quoted[] {
  const writes = [0, 20, 33, 600].map((size, index) => ({
    action: 'WRITE_DATA_FOR' as const,
    input: { cloudId, dataId: id(100 + index), payload: bytes(size, index) },
  }));
  const ids = (count: number) => Array.from({ length: count }, (_, index) => id(200 + index));
  const batches = [2, 9].map((count) => ({
    action: 'BATCH_WRITE_DATA_FOR' as const,
    input: { cloudId, dataIds: ids(count), payloads: ids(count).map((_, index) => bytes(40 * index, index)) },
  }));
  const known = [1, 2].map(id);
  return [
    ...writes,
    ...batches,
    { action: 'MODIFY_DATA_FOR', input: { cloudId, dataId: id(1), payload: bytes(50, 3) } },
    { action: 'DELETE_DATA_FOR', input: { cloudId, dataId: id(2) } },
    { action: 'BATCH_MODIFY_DATA_FOR', input: { cloudId, dataIds: known, payloads: known } },
    { action: 'BATCH_DELETE_DATA_FOR', input: { cloudId, dataIds: known } },
    { action: 'TRANSFER_PRISM_FOR', input: { cloudId, newOwner: `0x${'ab'.repeat(20)}` } },
    { action: 'DELETE_PRISM_FOR', input: { cloudId } },
  ];
}

async function setUp() {
  await using stack = new AsyncDisposableStack();
  const devnet = stack.use(await startDevnet({ accounts: 3 }));
  const { rpcUrl } = devnet;
  // As many as were asked for.
  const [sponsorKey, officialKey, strangerKey] = devnet.privateKeys as [Hex, Hex, Hex];
  const official = privateKeyToAccount(officialKey).address;
  const officialRelayers = [privateKeyToAccount(sponsorKey).address, official];
  const deployment = await deployContracts({ rpcUrl, privateKey: sponsorKey, officialRelayers });
  const accounts = USER_KEYS.map((key) => privateKeyToAccount(key));
  const chain = { rpcUrl, deployment, sponsorKey, credits: 1_000_000n * CREDIT };
  const [user] = await createPrisms({ ...chain, accounts });
  const owned = stack.move();
  return {
    ...{ rpcUrl, deployment, officialKey, official, stranger: privateKeyToAccount(strangerKey).address },
    // Two were made.
    user: user as PrismUser,
    client: createPublicClient({ transport: http(rpcUrl) }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

let rig: Awaited<ReturnType<typeof setUp>>;
const closing = new AbortController();
beforeAll(async () => {
  rig = await setUp();
  await store();
});
afterAll(async () => {
  closing.abort();
  await rig?.[Symbol.asyncDispose]();
});

/** Signs an action of the user. */
async function sign<A extends SignedAction>(action: A, params: object, nonce: bigint): Promise<ActionParams<A>> {
  const { deployment, user } = rig;
  const { chainId, forwarder } = deployment;
  const source = { action, params: params as never, nonce, chainId, forwarder };
  const signature = await user.account.signTypedData(createTypedData<A>(source));
  return createSignedParams<A>({ ...source, signer: user.account.address, signature });
}

/** Writes some entries, by a relayer's own hand: forwarder nonces 1 to 3. */
async function store(): Promise<void> {
  const { client, user, deployment, officialKey } = rig;
  const wallet = createWalletClient({ transport: http(rig.rpcUrl), account: privateKeyToAccount(officialKey) });
  const { timestamp } = await client.getBlock();
  for (let entry = 1; entry <= STORED; entry += 1) {
    const params = { cloudId: user.cloudId, dataId: id(entry), payload: bytes(20, entry), relayerFee: '1' };
    const signed = await sign('WRITE_DATA_FOR', { ...params, timestamp: String(timestamp) }, BigInt(entry));
    const { data } = encodeForwarderCall({ action: 'WRITE_DATA_FOR', params: signed });
    const hash = await wallet.sendTransaction({ to: deployment.forwarder, data, chain: null });
    await client.waitForTransactionReceipt({ hash });
  }
}

async function openRelayer(relayer: Hex) {
  const rpc: ChainRpc = createChainRpc({
    ...{
      clients: [createRpcClient({ rpcUrl: rig.rpcUrl })],
      now: Date.now,
      random: Math.random,
      signal: closing.signal,
    },
    onFallback: (reason) => expect.unreachable(reason),
  });
  const { forwarder } = rig.deployment;
  const reader = createChainReader({ rpc, forwarder, relayer, costs: await rpc.openCosts() });
  const rate = { creditsPerEth: CREDITS_PER_ETH, maxFeePerGas: 10n ** 13n };
  const policy = { ...rate, feeMarginPercent: MARGIN_PERCENT };
  return { reader, context: makeContext({ chain: { forwarder, relayer, reader }, policy, now: Date.now }) };
}

/** A relayer's verdict on an action that pays a fee. */
async function evaluate(relayer: Hex, { action, input }: Quoted, relayerFee: bigint) {
  const { reader, context } = await openRelayer(relayer);
  const [head, forwarder] = await Promise.all([reader.head(), reader.policy()]);
  const nonce = BigInt(STORED + 1);
  const timestamp = String(head.timestamp - forwarder.priorityWindow);
  const params = await sign(action, { ...input, relayerFee: String(relayerFee), timestamp }, nonce);
  const signer = rig.user.account.address.toLowerCase() as Hex;
  return await checkRequest(context, {
    record: { requestId: 'quoted', action, signer, createdAt: '', params } as never,
    signatures: [{ signer, nonce, r: params.r as Hex, s: params.s as Hex }],
    nonces: new Map([[signer, nonce]]),
    ...{ head, forwarder, seconds: head.timestamp + 1n },
  });
}

async function compareAll(relayer: Hex): Promise<void> {
  const { user, client, deployment } = rig;
  const terms = { client, domain: deployment, creditsPerEth: CREDITS_PER_ETH, marginPercent: MARGIN_PERCENT, relayer };
  for (const quoted of listActions(user.cloudId)) {
    const order = { action: quoted.action, signer: user.account.address, input: quoted.input as never };
    const { relayerFee } = await quoteFee(terms, order);
    expect(await evaluate(relayer, quoted, relayerFee), quoted.action).toMatchObject({ kind: 'ready' });
    const less = (relayerFee * 99n) / 100n;
    expect(await evaluate(relayer, quoted, less), quoted.action).toMatchObject({ kind: 'leave', reason: 'fee' });
  }
}

// Shows RELAY-2.
test('what the SDK quotes an official relayer takes, and a hundredth less it does not', async () => {
  await compareAll(rig.official);
});

// Shows RELAY-2.
test('and so does one that gets only its share', async () => {
  await compareAll(rig.stranger);
});

test('a quote for nobody in particular is enough for each of them', async () => {
  const { user, client, deployment, official, stranger } = rig;
  const terms = { client, domain: deployment, creditsPerEth: CREDITS_PER_ETH };
  const [quoted] = listActions(user.cloudId);
  const order = { action: quoted!.action, signer: user.account.address, input: quoted!.input as never };
  const { relayerFee } = await quoteFee(terms, order);
  for (const relayer of [official, stranger])
    expect(await evaluate(relayer, quoted!, relayerFee)).toMatchObject({ kind: 'ready' });
});

// Shows COST-1.
test('what a rollup charges for data is in the quote', async () => {
  const chain = createTestClient({ mode: 'anvil', transport: http(rig.rpcUrl) });
  const snapshot = await chain.snapshot();
  const l1BaseFee = parseGwei('20');
  const scalars = { blobBaseFee: parseGwei('1'), baseFeeScalar: 1368n, blobBaseFeeScalar: 810_949n };
  await installOpStack(rig.rpcUrl, { l1BaseFee, ...scalars });
  await compareAll(rig.official);
  await chain.revert({ id: snapshot });
  await installArbitrum(rig.rpcUrl, { l1BaseFee: parseGwei('2'), l2BaseFee: parseGwei('0.1') });
  await compareAll(rig.official);
});

// Shows NODE-2.
test('one block with a tip that somebody else wanted changes neither the quote nor the verdict', async () => {
  const { client, official, officialKey, user, deployment } = rig;
  const wallet = createWalletClient({ transport: http(rig.rpcUrl), account: privateKeyToAccount(officialKey) });
  const tip = parseGwei('50');
  const fees = { maxFeePerGas: 4n * tip, maxPriorityFeePerGas: tip };
  const hash = await wallet.sendTransaction({ to: official, value: 1n, ...fees, chain: null });
  await client.waitForTransactionReceipt({ hash });
  // The node suggests what that one has paid, a moment after the receipt.
  const readTip = async () => BigInt(await client.request({ method: 'eth_maxPriorityFeePerGas' }));
  await expect.poll(readTip, { timeout: 5000 }).toBe(tip);
  const head = await (await openRelayer(official)).reader.head();
  expect(head.tip).toBeLessThan(tip);
  const [quoted] = listActions(user.cloudId);
  const order = { action: quoted!.action, signer: user.account.address, input: quoted!.input as never };
  const { gasPrice } = await quoteFee({ client, domain: deployment, creditsPerEth: CREDITS_PER_ETH }, order);
  expect(gasPrice).toBe(head.gasPrice);
  await compareAll(official);
});

test('what the Forwarder would refuse has no fee, and the reason is reported', async () => {
  const { user, client, deployment } = rig;
  const terms = { client, domain: deployment, creditsPerEth: CREDITS_PER_ETH };
  const input = { cloudId: user.cloudId, dataId: id(1), payload: '0xab' } as const;
  const order = { action: 'WRITE_DATA_FOR', signer: user.account.address, input } as const;
  // It is there already.
  await expect(quoteFee(terms, order)).rejects.toMatchObject({
    name: 'FeeQuoteError',
    code: 'ACTION_REVERTS',
    data: expect.stringMatching(/^0x[0-9a-f]{8}/),
    message: expect.stringMatching(/ It reverts: DataAlreadyExists\(0x[0-9a-f]{64}, 0x[0-9a-f]{64}\)$/),
  });
});
