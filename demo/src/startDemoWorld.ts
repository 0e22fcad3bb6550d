import { randomBytes } from 'node:crypto';
import { creditTokenAbi } from '@prism-gateway/contracts';
import { startWorld, type World, type WorldOptions } from '@prism-gateway/testing/world';
import { createPublicClient, createWalletClient, type Hex, http, type PrivateKeyAccount } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';

const CREDIT = 10n ** 18n;

/** Constants of the demo's world; amounts of credits in base units. */
export const WORLD = {
  chainName: 'eip155:31337',
  /** Seconds in which only the official relayer may submit: short, so that the other one has something to do. */
  priorityWindow: 2,
  /** Share of the fees for a relayer that is not official. */
  relayerShareBps: 7000,
  /** Paid to the treasury by each request that puts data on the chain. */
  protocolFee: 5n * CREDIT,
  /** 1000 credits a stablecoin (the Exchange's rate), 3000 stablecoins an ether. */
  creditsPerEth: 3_000_000n,
  creditsPerUser: 1_000_000n * CREDIT,
  /** Initial balance of each account of the development chain, in wei. */
  etherPerRelayer: 10_000n * CREDIT,
} as const;

/** Who takes part, by the name that the output has. */
export interface Party {
  readonly name: string;
  readonly account: PrivateKeyAccount;
  readonly privateKey: Hex;
}

/** Reads the chain. */
export type ChainClient = ReturnType<typeof createChainClient>;

/** A world with the demo's parties. */
export interface DemoWorld {
  readonly world: World;
  readonly chain: ChainClient;
  /** With credits, and without ether. */
  readonly users: readonly Party[];
  /** On the gateway's whitelist: an official relayer, another one, a liar, and the watchtower. */
  readonly relayers: Readonly<Record<keyof typeof RELAYERS, Party>>;
}

/** Names of the relayers in the order of the world's keys. */
const RELAYERS = {
  official: 'relayer A',
  other: 'relayer B',
  liar: 'relayer C, the liar',
  watchtower: 'the watchtower',
} as const;

/** Index of a relayer in the world. */
export const indexOf = (relayer: keyof typeof RELAYERS) => Object.keys(RELAYERS).indexOf(relayer);

function createParty(name: string, privateKey = generatePrivateKey()): Party {
  return { name, privateKey, account: privateKeyToAccount(privateKey) };
}

function createChainClient(rpcUrl: string) {
  // 50 ms: a development chain has its block at once. Questions that are asked together go as one HTTP call.
  const transport = http(rpcUrl, { batch: { batchSize: 50 } });
  return createPublicClient({ transport, pollingInterval: 50, cacheTime: 0 });
}

async function giveCredits({ devnet, deployment, sponsorKey }: World, chain: ChainClient, users: readonly Party[]) {
  const wallet = createWalletClient({ account: privateKeyToAccount(sponsorKey), transport: http(devnet.rpcUrl) });
  const token = { address: deployment.creditToken, abi: creditTokenAbi, functionName: 'transfer' } as const;
  let nonce = await chain.getTransactionCount({ address: wallet.account.address });
  const hashes: Hex[] = [];
  for (const { account } of users) {
    const args = [account.address, WORLD.creditsPerUser] as const;
    hashes.push(await wallet.writeContract({ ...token, args, nonce: nonce++, chain: null }));
  }
  const receipts = await Promise.all(hashes.map((hash) => chain.waitForTransactionReceipt({ hash })));
  if (receipts.some(({ status }) => status === 'reverted')) throw new Error('A transfer of the deployer was reverted.');
}

/**
 * Starts the chain and the gateway, and gives users credits. The relayers' processes are not started yet.
 *
 * @param stack - stops everything
 * @param options - the number of users, the folder for data and logs, and what ends it early
 */
export async function startDemoWorld(
  stack: AsyncDisposableStack,
  options: { readonly users: number } & Pick<WorldOptions, 'dir' | 'onUnexpectedEnd' | 'signal'>,
): Promise<DemoWorld> {
  const { priorityWindow, relayerShareBps, protocolFee } = WORLD;
  const treasury = createParty('treasury').account.address;
  const started = startWorld({
    ...{ ...options, users: 0, relayers: Object.keys(RELAYERS).length, officialRelayers: 1 },
    contracts: { priorityWindow, relayerShareBps, protocolFee, treasury },
    gateway: { ADMIN_API_KEY: randomBytes(24).toString('hex') },
  });
  const world = stack.use(await started);
  const chain = createChainClient(world.devnet.rpcUrl);
  const users = Array.from({ length: options.users }, (_, index) => createParty(`user ${index + 1}`));
  await giveCredits(world, chain, users);
  const entries = Object.entries(RELAYERS).map(([key, name], index) => [
    key,
    createParty(name, world.relayerKeys[index]),
  ]);
  // One for each name.
  return { world, chain, users, relayers: Object.fromEntries(entries) as DemoWorld['relayers'] };
}
