import { type Hex, parseGwei } from 'viem';
import type { SenderRig } from './createSenderRig.ts';

/**
 * Sends from a rig's key behind the sender's back.
 *
 * @param rig - whose key
 * @param nonce - the account nonce
 * @returns the hash
 */
export async function sendForeign(rig: SenderRig, nonce: number): Promise<Hex> {
  const raw = await rig.account.signTransaction({
    type: 'eip1559',
    chainId: rig.anvil.chainId,
    nonce,
    to: rig.account.address,
    gas: 21_000n,
    maxFeePerGas: parseGwei('50'),
    maxPriorityFeePerGas: parseGwei('50'),
  });
  // A node answers with the hash.
  return (await rig.anvil.rpc('eth_sendRawTransaction', [raw])) as Hex;
}
