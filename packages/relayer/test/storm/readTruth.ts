import { cloudAbi, creditTokenAbi, forwarderAbi, readRequestExecuted } from '@prism-gateway/contracts';
import type { World } from '@prism-gateway/testing/world';
import { createPublicClient, type Hex, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

/** The chain's state, read without any of the relayer's code. */
export interface Truth {
  /** Transactions that carried out a signer's request, by `signer/nonce`. */
  readonly executions: ReadonlyMap<string, readonly Hex[]>;
  nonceOf(signer: Hex): Promise<bigint>;
  dataOf(cloudId: Hex, dataId: Hex): Promise<Hex>;
  /** Each relayer's payments for gas in wei, and earnings in credits. */
  readonly accounts: readonly { readonly address: Hex; readonly paidWei: bigint; readonly earnedCredits: bigint }[];
}

/** Writes the key of an execution. */
export function executionKey(signer: string, nonce: bigint): string {
  return `${signer.toLowerCase()}/${nonce}`;
}

/** Reads the chain from the block of the deployment to its head. */
export async function readTruth(world: World): Promise<Truth> {
  const { forwarder, cloud, creditToken } = world.deployment;
  const client = createPublicClient({ transport: http(world.devnet.rpcUrl) });
  const head = await client.getBlockNumber();
  const executions = new Map<string, Hex[]>();
  const paid = new Map<string, bigint>();
  for (let number = 0n; number <= head; number += 1n) {
    const { transactions } = await client.getBlock({ blockNumber: number });
    for (const hash of transactions) {
      const receipt = await client.getTransactionReceipt({ hash });
      const from = receipt.from.toLowerCase();
      paid.set(from, (paid.get(from) ?? 0n) + receipt.gasUsed * receipt.effectiveGasPrice);
      for (const { signer, nonce, success } of readRequestExecuted({ logs: receipt.logs, forwarder })) {
        if (!success) continue;
        const key = executionKey(signer, nonce);
        executions.set(key, [...(executions.get(key) ?? []), hash]);
      }
    }
  }
  const addresses = world.relayerKeys.map((key) => privateKeyToAccount(key).address);
  // Fees stand in the cloud's ledger until they are withdrawn.
  const earned = addresses.map(async (address) => {
    const read = { args: [address] } as const;
    const [held, [ledger]] = await Promise.all([
      client.readContract({ address: creditToken, abi: creditTokenAbi, functionName: 'balanceOf', ...read }),
      client.readContract({ address: cloud, abi: cloudAbi, functionName: 'earningsOf', ...read }),
    ]);
    return held + ledger;
  });
  const credits = await Promise.all(earned);
  return {
    executions,
    accounts: addresses.map((address, index) => ({
      address,
      paidWei: paid.get(address.toLowerCase()) ?? 0n,
      earnedCredits: credits[index] ?? 0n,
    })),
    nonceOf: (signer) =>
      client.readContract({ address: forwarder, abi: forwarderAbi, functionName: 'nonces', args: [signer] }),
    dataOf: (cloudId, dataId) =>
      client.readContract({ address: cloud, abi: cloudAbi, functionName: 'dataOf', args: [cloudId, dataId] }),
  };
}
