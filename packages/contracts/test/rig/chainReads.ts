import type { Address, Hex } from 'viem';
import { cloudAbi, creditTokenAbi, forwarderAbi } from '../../src/index.ts';
import type { Chain } from './openChain.ts';

/** What tests read of the contracts. */
export function createChainReads({ client, deployment }: Chain) {
  const { forwarder, cloud, creditToken } = deployment;
  return {
    /** The time of the latest block, in Unix seconds. */
    now: async () => (await client.getBlock()).timestamp,
    readNonce: (signer: Address) =>
      client.readContract({ address: forwarder, abi: forwarderAbi, functionName: 'nonces', args: [signer] }),
    readPrism: async (cloudId: Hex) => {
      const read = { address: cloud, abi: cloudAbi, functionName: 'prisms', args: [cloudId] } as const;
      const [owner, pendingOwner, balance, deleted] = await client.readContract(read);
      return { owner, pendingOwner, balance, deleted };
    },
    readData: (cloudId: Hex, dataId: Hex) =>
      client.readContract({ address: cloud, abi: cloudAbi, functionName: 'dataOf', args: [cloudId, dataId] }),
    readCredits: (owner: Address) =>
      client.readContract({ address: creditToken, abi: creditTokenAbi, functionName: 'balanceOf', args: [owner] }),
  };
}

export type ChainReads = ReturnType<typeof createChainReads>;
