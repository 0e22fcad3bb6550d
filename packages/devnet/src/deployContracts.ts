import {
  cloudAbi,
  coreAbi,
  creditTokenAbi,
  type Deployment,
  exchangeAbi,
  forwarderAbi,
  predictAddresses,
  stablecoinAbi,
} from '@prism-gateway/contracts';
import {
  cloudBytecode,
  coreBytecode,
  creditTokenBytecode,
  exchangeBytecode,
  forwarderBytecode,
  stablecoinBytecode,
} from '@prism-gateway/contracts/bytecode';
import type { Address, Hex, Transport } from 'viem';
import { createPublicClient, createWalletClient, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { createDeploymentError, DeploymentError } from './createDeploymentError.ts';

export interface DeployOptions {
  /** Where the node is; not needed with a transport. */
  readonly rpcUrl?: string;
  /** How the node is asked instead of over HTTP. */
  readonly transport?: Transport;
  /** The deployer's: owner of the contracts, and holder of `initialCredits`. */
  readonly privateKey: Hex;
  /** Credits in base units that a request pays which puts data on the chain; default 0.1 credits. */
  readonly protocolFee?: bigint;
  /** No protocol fee is ever higher; default ten times as much. */
  readonly maxProtocolFee?: bigint;
  /** Share of the fee of relayers that are not official, in basis points; default 7000. */
  readonly relayerShareBps?: number;
  /** Seconds in which only official relayers may submit; default 60. */
  readonly priorityWindow?: number;
  /** Seconds after which a request is void; default one day. */
  readonly maxAge?: number;
  /** Credits for one stablecoin; default 1000. */
  readonly exchangeRate?: bigint;
  /** Who gets protocol fees and stablecoins; default the deployer. */
  readonly treasury?: Address;
  readonly officialRelayers?: readonly Address[];
  /** Credits in base units that the deployer holds from the start; default a thousand million credits. */
  readonly initialCredits?: bigint;
}

const CREDIT = 10n ** 18n;

function connect({ rpcUrl, transport = http(rpcUrl), privateKey }: DeployOptions) {
  const account = privateKeyToAccount(privateKey);
  // 50 ms: a devnet has its block at once, or soon.
  const client = createPublicClient({ transport, pollingInterval: 50 });
  return { account, client, wallet: createWalletClient({ transport, account }) };
}

/** The arguments of each contract, in the order of the account nonces. */
function planDeployments(options: DeployOptions, places: ReturnType<typeof predictAddresses>, owner: Address) {
  const { protocolFee = CREDIT / 10n, maxProtocolFee = 10n * protocolFee } = options;
  const { relayerShareBps = 7_000, priorityWindow = 60, maxAge = 86_400 } = options;
  const { exchangeRate = 1_000n, treasury = owner, officialRelayers = [] } = options;
  const { initialCredits = 1_000_000_000n * CREDIT } = options;
  const { stablecoin, creditToken, exchange, core, cloud, forwarder } = places;
  return [
    { contract: 'stablecoin', abi: stablecoinAbi, bytecode: stablecoinBytecode, args: [] },
    {
      contract: 'creditToken',
      abi: creditTokenAbi,
      bytecode: creditTokenBytecode,
      args: [exchange, owner, initialCredits],
    },
    {
      contract: 'exchange',
      abi: exchangeAbi,
      bytecode: exchangeBytecode,
      args: [owner, stablecoin, creditToken, treasury, exchangeRate],
    },
    { contract: 'core', abi: coreAbi, bytecode: coreBytecode, args: [cloud] },
    {
      contract: 'cloud',
      abi: cloudAbi,
      bytecode: cloudBytecode,
      args: [owner, creditToken, forwarder, core, treasury],
    },
    {
      contract: 'forwarder',
      abi: forwarderAbi,
      bytecode: forwarderBytecode,
      args: [
        owner,
        cloud,
        creditToken,
        priorityWindow,
        maxAge,
        relayerShareBps,
        officialRelayers,
        protocolFee,
        maxProtocolFee,
      ],
    },
  ] as const;
}

/**
 * Deploys the six contracts, wired to each other.
 *
 * @param options - how to reach the chain, the deployer's key, and the contracts' parameters
 * @returns addresses, once all are mined
 * @throws DeploymentError `DEPLOYMENT_FAILED`; viem's errors if the chain does not answer
 */
export async function deployContracts(options: DeployOptions): Promise<Deployment> {
  const { account, client, wallet } = connect(options);
  const [chainId, nonce] = await Promise.all([
    client.getChainId(),
    client.getTransactionCount({ address: account.address, blockTag: 'pending' }),
  ]);
  const places = predictAddresses(account.address, nonce);
  const plans = planDeployments(options, places, account.address);
  const hashes: Hex[] = [];
  for (const [index, { contract, ...plan }] of plans.entries()) {
    // In this order, so that a node which wants no gaps takes them. Which ABI goes with which arguments stands in the plan.
    const order = { ...plan, nonce: nonce + index, chain: null } as DeployParameters;
    const hash = await wallet.deployContract(order).catch((error: unknown) => {
      throw createDeploymentError({ contract, abi: plan.abi, error });
    });
    hashes.push(hash);
  }
  const receipts = await Promise.all(hashes.map((hash) => client.waitForTransactionReceipt({ hash })));
  const failed = receipts.findIndex(({ status }) => status === 'reverted');
  if (failed >= 0) throw new DeploymentError(`The ${plans[failed]?.contract} could not be deployed: it was reverted.`);
  const deployedAtBlock = Math.max(...receipts.map(({ blockNumber }) => Number(blockNumber)));
  return { chainId, ...places, treasury: options.treasury ?? account.address, deployedAtBlock };
}

type DeployParameters = Parameters<ReturnType<typeof connect>['wallet']['deployContract']>[0];
