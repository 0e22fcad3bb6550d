import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Deployment } from '@prism-gateway/contracts';
import {
  type DeployOptions,
  type Devnet,
  type DevnetOptions,
  deployContracts,
  startDevnet,
} from '@prism-gateway/devnet';
import { createAdminClient, createGatewayClient, type GatewayClient } from '@prism-gateway/sdk';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { keccak256, toHex } from 'viem/utils';
import { createPrisms, type PrismUser } from './createPrisms.ts';
import { type RunningGateway, startGateway } from './startGateway.ts';
import { type Program, type ProgramEnv, type ProgramOptions, startProgram } from './startProgram.ts';

export interface WorldOptions extends Pick<ProgramOptions, 'onUnexpectedEnd' | 'signal'> {
  /** Users with a funded prism each; default none. */
  readonly users?: number;
  /** Keys on the gateway's whitelist, with ether; default none. */
  readonly relayers?: number;
  /** How many of the relayers, the first ones, are official; default all. */
  readonly officialRelayers?: number;
  /** Of the chain; by default each transaction has its block at once. */
  readonly chain?: Pick<DevnetOptions, 'blockTimeMs'>;
  /** Parameters of the contracts beyond the rig's own. */
  readonly contracts?: Partial<Omit<DeployOptions, 'rpcUrl' | 'privateKey' | 'officialRelayers'>>;
  /** Settings of the gateway. */
  readonly gateway?: ProgramEnv;
  /** Credits of each prism, in base units; default a million credits. */
  readonly credits?: bigint;
  /** Folder that takes all data and logs, and stays; default one that goes with the world. */
  readonly dir?: string;
}

/** A relayer or watchtower to start. */
export interface RelayerOptions extends Omit<ProgramOptions, 'folder' | 'logFile'> {
  /** Which of the world's relayers it is. */
  readonly index: number;
}

/** Everything real that a relayer works with: a chain with the contracts, a gateway, users with prisms. */
export interface World extends AsyncDisposable {
  readonly devnet: Devnet;
  readonly deployment: Deployment;
  readonly gateway: RunningGateway;
  readonly client: GatewayClient;
  readonly users: readonly PrismUser[];
  /** Of the deployer: an official relayer that holds credits and ether. */
  readonly sponsorKey: Hex;
  readonly relayerKeys: readonly Hex[];
  readonly dir: string;
  /** Settings of one of the relayers; each has a data folder of its own. @param rpcUrl - instead of the node's own */
  relayerEnv(index: number, rpcUrl?: string): ProgramEnv;
  /** Starts one of the relayers; it stops with the world. */
  startRelayer(options: RelayerOptions): Promise<Program>;
  /** Starts a watchtower that acts upon lies, with a relayer's key to read the gateway by; it stops with the world. */
  startWatchtower(options: RelayerOptions): Promise<Program>;
}

/** The gateway's name of the chain. */
const CHAIN_NAME = 'eip155:31337';
const CREDIT = 10n ** 18n;

/** Keys of users: the same in each run, and worth nothing. */
function userKey(index: number): Hex {
  return keccak256(toHex(`user ${index} of the relay rig`));
}

async function startChain(stack: AsyncDisposableStack, { chain, relayers = 0, ...options }: WorldOptions) {
  // Without the signal: the chain goes last, after those who use it.
  const devnet = stack.use(await startDevnet({ accounts: relayers + 1, ...chain }));
  // As many as accounts were asked for.
  const [sponsorKey, ...relayerKeys] = devnet.privateKeys as [Hex, ...Hex[]];
  const official = [sponsorKey, ...relayerKeys.slice(0, options.officialRelayers ?? relayers)];
  const deployment = await deployContracts({
    rpcUrl: devnet.rpcUrl,
    privateKey: sponsorKey,
    officialRelayers: official.map((key) => privateKeyToAccount(key).address),
    ...options.contracts,
  });
  return { devnet, deployment, sponsorKey, relayerKeys };
}

async function makeFolder(stack: AsyncDisposableStack): Promise<string> {
  return stack.adopt(await mkdtemp(join(tmpdir(), 'prism-world-')), (path) => rm(path, { recursive: true }));
}

async function buildWorld(stack: AsyncDisposableStack, options: WorldOptions): Promise<Omit<World, symbol>> {
  const { onUnexpectedEnd, signal } = options;
  const chain = await startChain(stack, options);
  const { devnet, deployment, sponsorKey, relayerKeys } = chain;
  const dir = options.dir ?? (await makeFolder(stack));
  const logFile = (name: string) => (options.dir === undefined ? undefined : join(dir, `${name}.log`));
  const shared = { onUnexpectedEnd, signal };
  const env = options.gateway ?? {};
  const dataDir = join(dir, 'gateway');
  const gateway = stack.use(await startGateway({ ...shared, env, dataDir, logFile: logFile('gateway') }));
  const client = createGatewayClient({ url: gateway.url });
  const admin = createAdminClient({ gateway: client, adminKey: gateway.adminKey });
  for (const key of relayerKeys) await admin.addRelayer({ address: privateKeyToAccount(key).address });
  const accounts = Array.from({ length: options.users ?? 0 }, (_, index) => privateKeyToAccount(userKey(index)));
  const credits = options.credits ?? 1_000_000n * CREDIT;
  const users = await createPrisms({ rpcUrl: devnet.rpcUrl, deployment, sponsorKey, accounts, credits });
  const relayerEnv: World['relayerEnv'] = (index, rpcUrl = devnet.rpcUrl) => ({
    GATEWAY_URL: gateway.url,
    RELAYER_PRIVATE_KEY: relayerKeys[index] ?? '',
    CHAIN_NAME,
    RPC_URL: rpcUrl,
    FORWARDER_ADDRESS: deployment.forwarder,
    CREDITS_PER_ETH: '3000000',
    DATA_DIR: join(dir, `relayer-${index}`),
    // Where the locks on keys are: other worlds have chains of their own, with the same id and the same keys.
    TMPDIR: dir,
  });
  return {
    ...{ ...chain, gateway, client, users, dir, relayerEnv },
    startRelayer: async ({ index, ...given }) =>
      stack.use(
        await startProgram('relayer', {
          ...{ ...shared, ...given, logFile: logFile(`relayer-${index}`) },
          env: { ...relayerEnv(index), ...given.env },
        }),
      ),
    startWatchtower: async ({ index, ...given }) =>
      stack.use(
        await startProgram('watchtower', {
          ...{ ...shared, ...given, logFile: logFile('watchtower') },
          env: {
            ...relayerEnv(index),
            ...{ DATA_DIR: join(dir, 'watchtower'), ENFORCE: 'true', ADMIN_API_KEY: gateway.adminKey },
            ...given.env,
          },
        }),
      ),
  };
}

/**
 * Starts a chain, deploys the contracts, starts a gateway with the relayers on its whitelist, and gives users their prisms.
 *
 * @param options - sizes and parameters
 * @returns the world; relayers and watchtower are started by it when they are wanted, and all stops with it
 */
export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const stack = new AsyncDisposableStack();
  try {
    const world = await buildWorld(stack, options);
    return { ...world, [Symbol.asyncDispose]: () => stack.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}
