import { cloudAbi } from '@prism-gateway/contracts';
import { createWalletClient, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { World } from '../world/startWorld.ts';

/**
 * Has the cloud contract pay out what the relayers' requests have earned, to them and to the treasury. Anyone may ask for it.
 *
 * @param world - whose chain; the deployer pays the gas
 */
export async function payOutEarnings({ chain, deployment, deployerKey, relayers, rpcUrl }: World): Promise<void> {
  const wallet = createWalletClient({ account: privateKeyToAccount(deployerKey), transport: http(rpcUrl) });
  const call = { address: deployment.cloud, abi: cloudAbi, functionName: 'payOutEarnings', chain: null } as const;
  for (const { account } of [relayers.official, relayers.other]) {
    const hash = await wallet.writeContract({ ...call, args: [account.address] });
    await chain.waitForTransactionReceipt({ hash });
  }
}
