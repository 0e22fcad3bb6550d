import type { Deployment } from '@prism-gateway/contracts';
import { type DeployOptions, deployContracts } from '@prism-gateway/devnet';
import type { Transport } from 'viem';
import type { Chain } from './chain.ts';
import { createNodeTransport } from './createNodeTransport.ts';

/** Makes a transport of viem that has a block made for each transaction as it comes: to set a world up. */
export function createMiningTransport(chain: Pick<Chain, 'createNode' | 'mine'>): Transport {
  const node = chain.createNode({ name: 'set-up' });
  return createNodeTransport({
    async request(method, params) {
      const result = await node.request(method, params);
      if (method === 'eth_sendRawTransaction') await chain.mine();
      return result;
    },
  });
}

/**
 * Deploys the contracts as on a devnet, with a block for each transaction as it comes.
 *
 * @param options - the deployer, who needs ether already, and what the contracts are made with
 * @throws DeploymentError
 */
export async function deployToChain(
  chain: Chain,
  options: Omit<DeployOptions, 'rpcUrl' | 'transport'>,
): Promise<Deployment> {
  return await deployContracts({ ...options, transport: createMiningTransport(chain) });
}
