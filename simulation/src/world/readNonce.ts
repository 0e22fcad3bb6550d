import { forwarderAbi } from '@prism-gateway/contracts';
import { type Address, encodeFunctionData } from 'viem';
import type { World } from './createWorld.ts';

/** Reads a signer's forwarder nonce after the newest block. */
export async function readNonce(
  { chain, deployment }: Pick<World, 'chain' | 'deployment'>,
  signer: Address,
): Promise<bigint> {
  const data = encodeFunctionData({ abi: forwarderAbi, functionName: 'nonces', args: [signer] });
  return BigInt(await chain.call({ to: deployment.forwarder, data }));
}
