import { encodeForwarderCall, forwarderAbi } from '@prism-gateway/contracts';
import { type Devnet, deployContracts, startDevnet } from '@prism-gateway/devnet';
import { createPrisms, signWrite } from '@prism-gateway/testing/world';
import { createPublicClient, encodeFunctionData, type Hex, http, numberToHex, type Transport } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accounts, CHAIN_ID, deployer, GWEI, KEYS, relayer, sign, somebody, startChain } from './chain.rig.ts';
import { createMiningTransport, createNodeTransport, deployToChain, RpcFailure } from './index.ts';

type Answer = { readonly result: unknown } | { readonly error: { code: number; message: string; data?: unknown } };

/** A chain of either kind, set up by the same steps. */
interface Side {
  ask(method: string, params: readonly unknown[]): Promise<Answer>;
  mine(): Promise<void>;
  readonly mining: Transport;
  stop(): Promise<void>;
}

const ETHER = 10n ** 18n;
const user = privateKeyToAccount(numberToHex(100, { size: 32 }));

async function openSimulated(genesisTimeSeconds: number): Promise<Side> {
  const chain = await startChain({ genesisTimeSeconds, market: { gasPerBlock: 0n, tipPerGas: GWEI } });
  const node = chain.createNode({ name: 'first' });
  return {
    async ask(method, params) {
      const { result, error } = Object(await node.handle({ jsonrpc: '2.0', id: 1, method, params }));
      return error === undefined ? { result } : { error };
    },
    mine: async () => void (await chain.mine()),
    mining: createMiningTransport(chain),
    stop: async () => {},
  };
}

async function openAnvil(): Promise<Side> {
  const devnet: Devnet = await startDevnet({ chainId: CHAIN_ID });
  async function ask(method: string, params: readonly unknown[]): Promise<Answer> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const response = await fetch(devnet.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    const { result, error } = (await response.json()) as { result?: unknown; error?: never };
    return error === undefined ? { result } : { error };
  }
  for (const { address } of accounts) await ask('anvil_setBalance', [address, numberToHex(10_000n * ETHER)]);
  return {
    ask,
    mine: async () => void (await ask('evm_mine', [])),
    mining: http(devnet.rpcUrl),
    stop: () => devnet.stop(),
  };
}

/** The contracts, one user's prism, and a write that is mined; from then on transactions wait until a block is asked for. */
async function setUp(side: Side, timestamp: bigint) {
  const [sponsorKey] = KEYS as [Hex];
  const order = {
    privateKey: sponsorKey,
    transport: side.mining,
    officialRelayers: [deployer.address, relayer.address],
  };
  const deployment = await deployContracts(order);
  const chain = { transport: side.mining, deployment, sponsorKey };
  const [prism] = await createPrisms({ ...chain, accounts: [user], credits: 1000n * ETHER });
  const encode = async (nonce: bigint) => {
    const wish = {
      dataId: numberToHex(nonce, { size: 32 }),
      payload: '0x1234',
      relayerFee: ETHER,
      nonce,
      timestamp,
    } as const;
    const params = await signWrite(deployment, prism!, wish);
    return encodeForwarderCall({ action: 'WRITE_DATA_FOR', params }).data;
  };
  const written = await encode(1n);
  const to = deployment.forwarder;
  await side.ask('evm_setAutomine', [false]);
  const raw = await sign(relayer, { nonce: 0, to, data: written, gas: 500_000n, fee: 30n * GWEI });
  const sent = await side.ask('eth_sendRawTransaction', [raw]);
  await side.mine();
  const { result: head } = (await side.ask('eth_getBlockByNumber', ['latest', false])) as {
    result: { number: Hex; hash: Hex; timestamp: Hex };
  };
  return { hash: (sent as { result: Hex }).result, to, written, fresh: await encode(2n), head };
}

type World = Side & Awaited<ReturnType<typeof setUp>>;
let sides: readonly [World, World];

beforeAll(async () => {
  const anvil = await openAnvil();
  const { result } = (await anvil.ask('eth_getBlockByNumber', ['0x0', false])) as { result: { timestamp: Hex } };
  const seconds = Number(result.timestamp);
  const opened = [await openSimulated(seconds), anvil];
  const worlds = await Promise.all(opened.map(async (side) => ({ ...side, ...(await setUp(side, BigInt(seconds))) })));
  sides = worlds as unknown as [World, World];
});
afterAll(async () => {
  for (const side of sides ?? []) await side.stop();
});

/** The form of an answer: names of members, and of each value what kind of JSON it is. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shapeOf(part)]));
  }
  if (typeof value !== 'string') return value === null ? 'null' : typeof value;
  return /^0x/.test(value) ? (value.length > 18 ? `hex of ${value.length}` : 'quantity') : 'text';
}

const nonces = encodeFunctionData({ abi: forwarderAbi, functionName: 'nonces', args: [user.address] });
const write = ({ to, fresh }: World) => ({ from: relayer.address, to, data: fresh });
const used = ({ to, written }: World) => ({ from: relayer.address, to, data: written });

/** Answers that must be the same in all. */
const SAME: readonly (readonly [string, string, (world: World) => readonly unknown[]])[] = [
  ['the chain', 'eth_chainId', () => []],
  ['the network', 'net_version', () => []],
  ['an account nonce', 'eth_getTransactionCount', () => [relayer.address, 'latest']],
  ['an account nonce of the past', 'eth_getTransactionCount', () => [relayer.address, '0x1']],
  ['an account nonce with what waits', 'eth_getTransactionCount', () => [relayer.address, 'pending']],
  ['the code', 'eth_getCode', ({ to }) => [to, 'latest']],
  ['no code', 'eth_getCode', () => [user.address, 'latest']],
  ['a word of storage', 'eth_getStorageAt', ({ to }) => [to, '0x0', 'latest']],
  ['a call', 'eth_call', ({ to }) => [{ to, data: nonces }, 'latest']],
  ['a call after an older block', 'eth_call', ({ to }) => [{ to, data: nonces }, '0x9']],
  [
    'a call with another state',
    'eth_call',
    ({ to }) => [
      { to: user.address, data: '0x' },
      'latest',
      { [user.address]: { code: '0x60015f5260205ff3' }, [to]: { balance: '0x1' } },
    ],
  ],
  ['a call of nothing', 'eth_call', () => [{ to: user.address, data: '0x1234' }, 'latest']],
  ['a receipt that is not there', 'eth_getTransactionReceipt', () => [`0x${'7'.repeat(64)}`]],
  ['a transaction that is not there', 'eth_getTransactionByHash', () => [`0x${'7'.repeat(64)}`]],
  ['a block that is not there', 'eth_getBlockByNumber', () => ['0xffff', false]],
  ['an unknown block by hash', 'eth_getBlockByHash', () => [`0x${'7'.repeat(64)}`, false]],
  ['logs of nobody', 'eth_getLogs', () => [{ address: user.address, fromBlock: '0x0', toBlock: 'latest' }]],
  ['a revert', 'eth_call', (world) => [used(world), 'latest']],
  ['an estimate that reverts', 'eth_estimateGas', (world) => [used(world), 'latest']],
];

it.each(SAME)('%s answers as Anvil does: %s', async (_, method, params) => {
  const [ours, theirs] = await Promise.all(sides.map((world) => world.ask(method, params(world))));
  if ('error' in theirs!) {
    const { error } = ours as { error: { code: number; data?: unknown } };
    expect({ code: error.code, data: error.data }).toEqual({ code: theirs.error.code, data: theirs.error.data });
  } else expect(ours).toEqual(theirs);
});

/** Answers of the same form; their numbers depend on fees and times. Whatever Anvil says more, our programs do not read. */
const ALIKE: readonly (readonly [string, string, (world: World) => readonly unknown[]])[] = [
  ['a block', 'eth_getBlockByNumber', () => ['latest', false]],
  ['a block with its transactions', 'eth_getBlockByNumber', ({ head }) => [head.number, true]],
  ['the first block', 'eth_getBlockByNumber', () => ['0x0', false]],
  ['a receipt', 'eth_getTransactionReceipt', ({ hash }) => [hash]],
  ['receipts of a block', 'eth_getBlockReceipts', ({ head }) => [head.number]],
  ['a transaction', 'eth_getTransactionByHash', ({ hash }) => [hash]],
  ['logs by topic', 'eth_getLogs', ({ to }) => [{ address: to, fromBlock: '0x0', toBlock: 'latest' }]],
  ['the fees of blocks', 'eth_feeHistory', () => ['0x5', 'latest', [20]]],
  ['a tip', 'eth_maxPriorityFeePerGas', () => []],
  ['a price', 'eth_gasPrice', () => []],
  ['a balance', 'eth_getBalance', () => [relayer.address, 'latest']],
  ['an estimate', 'eth_estimateGas', (world) => [write(world), 'latest']],
  ['how much waits', 'txpool_status', () => []],
];
/** Fields that differ in form and are read by nobody here: roots that some forks lack, and texts that nodes leave empty. */
const UNREAD = new Set([
  'requestsHash',
  'parentBeaconBlockRoot',
  'extraData',
  'blobGasPrice',
  'blockTimestamp',
  'blobGasUsed',
  'size',
  'totalDifficulty',
]);

function keepCommon(ours: unknown, theirs: unknown): unknown {
  if (Array.isArray(ours) && Array.isArray(theirs)) return ours.map((part, index) => keepCommon(part, theirs[index]));
  if (typeof ours !== 'object' || ours === null || typeof theirs !== 'object' || theirs === null) return ours;
  const names = Object.keys(theirs).filter((name) => !UNREAD.has(name));
  return Object.fromEntries(names.map((name) => [name, keepCommon(Object(ours)[name], Object(theirs)[name])]));
}

it.each(ALIKE)('%s has the form that Anvil gives it: %s', async (_, method, params) => {
  const [ours, theirs] = await Promise.all(sides.map((world) => world.ask(method, params(world))));
  const [mine, other] = [shapeOf(ours), shapeOf(theirs)];
  expect(keepCommon(mine, other)).toEqual(keepCommon(other, other));
});

it('uses the same gas as Anvil does', async () => {
  const gas = await Promise.all(
    sides.map(async (world) => Object(Object(await world.ask('eth_getTransactionReceipt', [world.hash])).result)),
  );
  const [ours, theirs] = gas.map(({ gasUsed, logs, status }) => ({
    gasUsed,
    status,
    topics: logs.map((log: { topics: unknown }) => log.topics),
  }));
  expect(ours).toEqual(theirs);
});

it('simulates a write with the same result and gas', async () => {
  const [ours, theirs] = await Promise.all(
    sides.map(async (world) => {
      const time = numberToHex(Number(world.head.timestamp) + 30);
      const call = {
        ...write(world),
        gas: '0x7a120',
        maxFeePerGas: numberToHex(50n * GWEI),
        maxPriorityFeePerGas: '0x1',
      };
      const blocks = (calls: readonly unknown[]) => ({ blockStateCalls: [{ blockOverrides: { time }, calls }] });
      const answers = [
        await world.ask('eth_simulateV1', [blocks([write(world)]), 'latest']),
        await world.ask('eth_simulateV1', [{ ...blocks([call]), validation: true }, 'latest']),
        await world.ask('eth_simulateV1', [blocks([used(world)]), 'latest']),
      ];
      return answers.map((answer) => {
        const { gasUsed, status, returnData } = Object(answer).result[0].calls[0];
        return { gasUsed, status, returnData };
      });
    }),
  );
  expect(ours).toEqual(theirs);
});

describe('refuses transactions with words that are read as those of Anvil are', () => {
  const words: readonly (readonly [string, RegExp, (world: World) => Promise<Hex>])[] = [
    ['a used nonce', /nonce too low/i, () => sign(relayer, { nonce: 0 })],
    ['no funds', /insufficient funds/i, () => sign(privateKeyToAccount(numberToHex(77, { size: 32 })), { nonce: 0 })],
    ['too little gas', /intrinsic gas too low/i, () => sign(relayer, { nonce: 1, gas: 20_000n })],
  ];
  it.each(words)('%s', async (_, pattern, raw) => {
    const [ours, theirs] = await Promise.all(
      sides.map(async (world) => Object(await world.ask('eth_sendRawTransaction', [await raw(world)])).error),
    );
    expect([ours.message, theirs.message]).toEqual([expect.stringMatching(pattern), expect.stringMatching(pattern)]);
    // Anvil has other codes for some; nothing is read from them.
    expect(ours.code).toBe(-32_000);
  });

  it('a replacement that offers too little, and the same once more', async () => {
    const first = await sign(somebody, { nonce: 0, fee: 20n * GWEI, tip: 2n * GWEI });
    const second = await sign(somebody, { nonce: 0, fee: 20n * GWEI, tip: 2n * GWEI, value: 1n });
    for (const world of sides) {
      await world.ask('eth_sendRawTransaction', [first]);
      const again = Object(await world.ask('eth_sendRawTransaction', [first])).error;
      expect(again.message).toMatch(/already (known|imported)/);
      const replaced = Object(await world.ask('eth_sendRawTransaction', [second])).error;
      expect(replaced.message).toMatch(/replacement transaction underpriced/);
    }
  });
});

it('does not know a method in the same way', async () => {
  const codes = await Promise.all(sides.map(async (world) => Object(await world.ask('eth_nothing', [])).error.code));
  expect(codes).toEqual([-32_601, -32_601]);
});

it('gives viem what it reads reverts from', async () => {
  const chain = await startChain();
  const deployment = await deployToChain(chain, { privateKey: KEYS[0] as Hex });
  const node = chain.createNode({ name: 'first' });
  const client = createPublicClient({ transport: createNodeTransport(node) });
  const order = {
    address: deployment.forwarder,
    abi: forwarderAbi,
    functionName: 'transferOwnership',
    args: [somebody.address],
  } as const;
  await expect(client.simulateContract({ ...order, account: somebody.address })).rejects.toThrow(
    /OwnableUnauthorizedAccount/,
  );
  await expect(node.request('eth_nothing')).rejects.toThrow(RpcFailure);
});
