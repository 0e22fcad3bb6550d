import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Deployment } from '@prism-gateway/contracts';
import { type DeployOptions, type Devnet, deployContracts, startDevnet } from '@prism-gateway/devnet';
import { createAdminClient, createGatewayClient, type GatewayClient } from '@prism-gateway/sdk';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { keccak256, toHex } from 'viem/utils';
import { type RunningGateway, startGateway } from '../startGateway.ts';
import { createPrisms, type PrismUser } from './createPrisms.ts';
import type { RelayerEnv } from './startRelayerProcess.ts';

export interface RelayWorldOptions {
  /** Users with a funded prism each. */
  readonly users: number;
  readonly relayers: number;
  /** How many of the relayers, the first ones, are official; default all. */
  readonly officialRelayers?: number;
  /** Default: each transaction has its block at once. */
  readonly blockTimeMs?: number;
  /** Parameters of the contracts beyond the rig's own. */
  readonly contracts?: Partial<Pick<DeployOptions, 'priorityWindow' | 'maxAge' | 'relayerShareBps'>>;
  /** Settings of the gateway. */
  readonly gatewayEnv?: Readonly<Record<string, string>>;
  /** What each prism holds, in base units; default a million credits. */
  readonly credits?: bigint;
}

/** Everything real that a relayer works with: a chain with the contracts, a gateway, users with prisms. */
export interface RelayWorld extends AsyncDisposable {
  readonly devnet: Devnet;
  readonly deployment: Deployment;
  readonly gateway: RunningGateway;
  readonly client: GatewayClient;
  readonly users: readonly PrismUser[];
  readonly relayerKeys: readonly Hex[];
  /** A folder that goes with the world. */
  readonly dir: string;
  /** Settings of one of the relayers; each has a data folder of its own. @param rpcUrl - instead of the node's own */
  relayerEnv(index: number, rpcUrl?: string): RelayerEnv;
}

/** The gateway's name of the chain. */
const CHAIN_NAME = 'eip155:31337';
const CREDIT = 10n ** 18n;

/** Keys of users: the same in each run, and worth nothing. */
function userKey(index: number): Hex {
  return keccak256(toHex(`user ${index} of the relay rig`));
}

/**
 * Starts a chain, deploys the contracts, starts a gateway with the relayers on its whitelist, and gives users their prisms.
 *
 * @param options - sizes and parameters
 * @returns the world; the relayers are not started
 */
export async function startRelayWorld(options: RelayWorldOptions): Promise<RelayWorld> {
  const stack = new AsyncDisposableStack();
  try {
    const { blockTimeMs, relayers } = options;
    const accounts = relayers + 1;
    const devnet = stack.use(await startDevnet({ accounts, ...(blockTimeMs !== undefined && { blockTimeMs }) }));
    // As many as accounts were asked for.
    const [sponsorKey, ...relayerKeys] = devnet.privateKeys as [Hex, ...Hex[]];
    const official = [sponsorKey, ...relayerKeys.slice(0, options.officialRelayers ?? relayers)];
    const { rpcUrl } = devnet;
    const officialRelayers = official.map((key) => privateKeyToAccount(key).address);
    const deployment = await deployContracts({
      rpcUrl,
      privateKey: sponsorKey,
      officialRelayers,
      ...options.contracts,
    });
    const env = options.gatewayEnv ?? {};
    const gateway = stack.adopt(await startGateway({ env }), async ({ stop }) => void (await stop()));
    const client = createGatewayClient({ url: gateway.url });
    const admin = createAdminClient({ gateway: client, adminKey: gateway.adminKey });
    for (const key of relayerKeys) await admin.addRelayer({ address: privateKeyToAccount(key).address });
    const userAccounts = Array.from({ length: options.users }, (_, index) => privateKeyToAccount(userKey(index)));
    const credits = options.credits ?? 1_000_000n * CREDIT;
    const users = await createPrisms({ rpcUrl, deployment, sponsorKey, accounts: userAccounts, credits });
    const dir = stack.adopt(await mkdtemp(join(tmpdir(), 'prism-relay-')), (path) => rm(path, { recursive: true }));
    const owned = stack.move();
    return {
      ...{ devnet, deployment, gateway, client, users, relayerKeys, dir },
      relayerEnv: (index, url = rpcUrl) => ({
        GATEWAY_URL: gateway.url,
        RELAYER_PRIVATE_KEY: relayerKeys[index] ?? '',
        CHAIN_NAME,
        RPC_URL: url,
        FORWARDER_ADDRESS: deployment.forwarder,
        CREDITS_PER_ETH: '3000000',
        DATA_DIR: join(dir, `relayer-${index}`),
        // Where the locks on keys are: other worlds have chains of their own, with the same id and the same keys.
        TMPDIR: dir,
      }),
      [Symbol.asyncDispose]: () => owned.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}
