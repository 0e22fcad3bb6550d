import { type DeployOptions, type DevnetOptions, deployContracts, startDevnet } from '@prism-gateway/devnet';
import type { Address, Hex } from 'viem';
import { createTestClient, http, publicActions } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { createUser } from './users.ts';

/** Parameters of the contracts, and of the devnet. */
export type ChainOptions = Partial<DeployOptions> & Pick<DevnetOptions, 'isCodeUnlimited' | 'gasLimit'>;

/**
 * Starts a devnet with the contracts on it. A block is mined only when a test says so: nothing has to be waited for.
 *
 * @param options - the contracts' parameters
 */
export async function openChain({ isCodeUnlimited, gasLimit, ...options }: ChainOptions) {
  const devnet = await startDevnet({ isCodeUnlimited, gasLimit });
  // Ten accounts by default.
  const [deployerKey, officialKey, outsiderKey] = devnet.privateKeys as readonly [Hex, Hex, Hex];
  const deployer: Address = privateKeyToAddress(deployerKey);
  /** An official relayer. */
  const official: Address = privateKeyToAddress(officialKey);
  /** A relayer that is not official. */
  const outsider: Address = privateKeyToAddress(outsiderKey);
  const treasury = createUser('treasury').address;
  const { rpcUrl } = devnet;
  const deployment = await deployContracts({
    rpcUrl,
    privateKey: deployerKey,
    officialRelayers: [official],
    treasury,
    ...options,
  });
  const client = createTestClient({ mode: 'anvil', transport: http(rpcUrl) }).extend(publicActions);
  await client.setAutomine(false);
  return { devnet, deployment, client, deployer, official, outsider, treasury };
}

export type Chain = Awaited<ReturnType<typeof openChain>>;
