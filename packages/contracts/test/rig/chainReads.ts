import type { Address, Hex } from 'viem';
import { cloudAbi, creditTokenAbi, forwarderAbi } from '../../src/index.ts';
import type { Chain } from './openChain.ts';

/** The tests' reads of the contracts. */
export function createChainReads({ client, deployment, official, outsider, treasury }: Chain) {
  const { forwarder, cloud, creditToken } = deployment;
  const readBalance = (owner: Address) =>
    client.readContract({ address: creditToken, abi: creditTokenAbi, functionName: 'balanceOf', args: [owner] });
  /** A relayer's earnings that are not paid out yet: its own part, and the treasury's. */
  const readEarnings = async (relayer: Address) => {
    const read = { address: cloud, abi: cloudAbi, functionName: 'earningsOf', args: [relayer] } as const;
    const [own, rest] = await client.readContract(read);
    return { own, rest };
  };
  return {
    readBalance,
    readEarnings,
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
    /** An account's credits as if all earnings of the rig's relayers had been paid out. */
    readCredits: async (owner: Address) => {
      const earned = await Promise.all([official, outsider].map(readEarnings));
      const balance = await readBalance(owner);
      if (owner === treasury) return earned.reduce((sum, { rest }) => sum + rest, balance);
      return balance + (await readEarnings(owner)).own;
    },
  };
}

export type ChainReads = ReturnType<typeof createChainReads>;
