import type { ForwarderLocation } from '@prism-gateway/protocol/typed-data';
import type { Address } from 'viem';
import { parseAbi } from 'viem/utils';

const noncesAbi = parseAbi(['function nonces(address signer) view returns (uint256)']);

/** The part of a viem public client that reading a nonce needs. */
export interface ForwarderReader {
  readContract(call: {
    readonly address: Address;
    readonly abi: typeof noncesAbi;
    readonly functionName: 'nonces';
    readonly args: readonly [Address];
  }): Promise<bigint>;
}

/**
 * Reads a signer's forwarder nonce from the chain.
 *
 * @param reader - a viem public client
 * @param domain - where the Forwarder is
 * @param signer - address
 * @throws what the client throws
 */
export async function readForwarderNonce(
  reader: ForwarderReader,
  domain: ForwarderLocation,
  signer: string,
): Promise<bigint> {
  // Both are `0x` and 40 hex digits; in lower case they carry no checksum that could be wrong.
  const [address, account] = [domain.forwarder.toLowerCase() as Address, signer.toLowerCase() as Address];
  return await reader.readContract({ address, abi: noncesAbi, functionName: 'nonces', args: [account] });
}
