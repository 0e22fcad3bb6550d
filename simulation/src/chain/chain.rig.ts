import { encodeForwarderCall } from '@prism-gateway/contracts';
import { createPrisms, type PrismUser, signWrite } from '@prism-gateway/testing/world';
import { type Address, createWalletClient, type Hex, numberToHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import {
  type Chain,
  type ChainOptions,
  createChain,
  createMiningTransport,
  createNodeTransport,
  deployToChain,
} from './index.ts';

export const CHAIN_ID = 31_337;
export const GWEI = 10n ** 9n;
const ETHER = 10n ** 18n;

/** Keys of three accounts with ether: the deployer, a relayer and somebody. */
export const KEYS = [1, 2, 3].map((place) => numberToHex(place, { size: 32 }));
export const accounts = KEYS.map((key) => privateKeyToAccount(key));
export const [deployer, relayer, somebody] = accounts as [
  (typeof accounts)[0],
  (typeof accounts)[0],
  (typeof accounts)[0],
];

/** A source of numbers in [0, 1) from a seed. @see https://en.wikipedia.org/wiki/Linear_congruential_generator */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A chain on which three accounts have ether. */
export function startChain(options: Partial<ChainOptions> = {}): Promise<Chain> {
  return createChain({
    ...{ chainId: CHAIN_ID, genesisTimeSeconds: 1_800_000_000, random: createRandom(7) },
    accounts: Object.fromEntries(accounts.map(({ address }) => [address, { balance: 10_000n * ETHER }])),
    ...options,
  });
}

/** A chain with the contracts, and users with a prism each. */
export async function startDeployedChain(users = 1, options: Partial<ChainOptions> = {}) {
  const chain = await startChain(options);
  // Three keys are there.
  const sponsorKey = KEYS[0] as Hex;
  const deployment = await deployToChain(chain, {
    privateKey: sponsorKey,
    officialRelayers: [deployer.address, relayer.address],
  });
  const owners = Array.from({ length: users }, (_, place) =>
    privateKeyToAccount(numberToHex(100 + place, { size: 32 })),
  );
  const prisms = await createPrisms({
    ...{ transport: createMiningTransport(chain), deployment, sponsorKey },
    ...{ accounts: owners, credits: 1000n * ETHER },
  });
  const node = chain.createNode({ name: 'first' });
  return { chain, deployment, prisms, node };
}

export type DeployedChain = Awaited<ReturnType<typeof startDeployedChain>>;

/** The calldata of a user's write by its forwarder nonce. */
export async function encodeWrite({ deployment, chain }: DeployedChain, user: PrismUser, nonce: bigint): Promise<Hex> {
  const timestamp = BigInt(chain.head().timestampSeconds);
  const wish = {
    dataId: numberToHex(nonce + 1n, { size: 32 }),
    payload: '0x1234',
    relayerFee: ETHER,
    nonce,
    timestamp,
  } as const;
  const params = await signWrite(deployment, user, wish);
  return encodeForwarderCall({ action: 'WRITE_DATA_FOR', params }).data;
}

/** A signed transaction of one of the accounts. */
export async function sign(
  account: (typeof accounts)[0],
  {
    nonce,
    to = account.address,
    data = '0x',
    gas = 21_000n,
    fee = 3n * GWEI,
    tip = GWEI,
    value = 0n,
  }: {
    readonly nonce: number;
    readonly to?: Address;
    readonly data?: Hex;
    readonly gas?: bigint;
    readonly fee?: bigint;
    readonly tip?: bigint;
    readonly value?: bigint;
  },
): Promise<Hex> {
  const fees = { maxFeePerGas: fee, maxPriorityFeePerGas: tip };
  return await account.signTransaction({ type: 'eip1559', chainId: CHAIN_ID, nonce, to, data, gas, value, ...fees });
}

/** A wallet on a chain's node. */
export const connect = (chain: Chain, account = relayer) =>
  createWalletClient({ account, transport: createNodeTransport(chain.createNode({ name: 'wallet' })) });
