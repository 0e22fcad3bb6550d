import {
  type ForwarderLocation,
  hashRequest,
  joinSignature,
  type SignedRequest,
} from '@prism-gateway/protocol/typed-data';
import type { Address } from 'viem';
import { parseAbi } from 'viem/utils';

const abi = parseAbi([
  'function nonces(address) view returns (uint256)',
  'function isValidSignature(bytes32, bytes) view returns (bytes4)',
]);

/** The code of nodes for a call that could not be carried out. @see https://eips.ethereum.org/EIPS/eip-1474 */
const CALL_FAILED = -32_000;

/** The answer of `isValidSignature` to a valid signature. */
const MAGIC_VALUE = '0x1626ba7e';

/** The part of a viem public client that a user's client needs. */
export interface ChainReader {
  readContract(call: {
    readonly address: Address;
    readonly abi: typeof abi;
    readonly functionName: 'nonces' | 'isValidSignature';
    // biome-ignore lint/suspicious/noExplicitAny: viem infers the arguments from the function's name.
    readonly args: any;
  }): Promise<unknown>;
}

/** In lower case an address carries no checksum that could be wrong. */
function readAddress(address: string): Address {
  return address.toLowerCase() as Address;
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
  reader: ChainReader,
  domain: ForwarderLocation,
  signer: string,
): Promise<bigint> {
  const [address, args] = [readAddress(domain.forwarder), [readAddress(signer)]];
  // As the ABI says.
  return (await reader.readContract({ address, abi, functionName: 'nonces', args })) as bigint;
}

/**
 * Asks a contract wallet whether it has signed a request, nonce included.
 *
 * @param reader - a viem public client
 * @param signer - the wallet's address
 * @throws what the client throws if the chain could not be asked
 * @see https://eips.ethereum.org/EIPS/eip-1271
 */
export async function isSignedByContract(
  reader: ChainReader,
  signer: string,
  request: SignedRequest,
): Promise<boolean> {
  const args = [hashRequest(request), joinSignature(request.params)];
  try {
    const call = { address: readAddress(signer), abi, functionName: 'isValidSignature', args } as const;
    return (await reader.readContract(call)) === MAGIC_VALUE;
  } catch (error) {
    // viem's errors: the wallet reverted, or there is no wallet.
    if (/^ContractFunction[RZ]/.test(Object(Object(error).cause).name)) return false;
    // The node has tried, and says why it gave up, such as a signature that costs all gas. One that fails has said nothing.
    if (Object(error).walk?.().code === CALL_FAILED) return false;
    throw error;
  }
}
