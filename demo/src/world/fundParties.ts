import { creditTokenAbi, type Deployment } from '@prism-gateway/contracts';
import { type Address, createWalletClient, type Hex, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { ChainClient } from './chainClient.ts';

/** Who gets what, from the deployer. */
export interface Funding {
  readonly rpcUrl: string;
  readonly deployerKey: Hex;
  readonly deployment: Deployment;
  /** In wei, to each relayer. */
  readonly ether: { readonly amount: bigint; readonly to: readonly Address[] };
  /** In base units, to each user. */
  readonly credits: { readonly amount: bigint; readonly to: readonly Address[] };
}

/**
 * Gives relayers ether and users credits, and waits until all have them.
 *
 * @param client - reads the chain
 * @param funding - who gets what
 */
export async function fundParties(client: ChainClient, funding: Funding): Promise<void> {
  const { rpcUrl, deployerKey, deployment, ether, credits } = funding;
  const account = privateKeyToAccount(deployerKey);
  const wallet = createWalletClient({ account, transport: http(rpcUrl) });
  const token = { address: deployment.creditToken, abi: creditTokenAbi, functionName: 'transfer' } as const;
  let nonce = await client.getTransactionCount({ address: account.address });
  const hashes: Hex[] = [];
  for (const to of ether.to) {
    hashes.push(await wallet.sendTransaction({ to, value: ether.amount, nonce: nonce++, chain: null }));
  }
  for (const to of credits.to) {
    hashes.push(await wallet.writeContract({ ...token, args: [to, credits.amount], nonce: nonce++, chain: null }));
  }
  const receipts = await Promise.all(hashes.map((hash) => client.waitForTransactionReceipt({ hash })));
  if (receipts.some(({ status }) => status === 'reverted')) throw new Error('A transfer of the deployer was reverted.');
}
