import { type Hex, hashMessage, serializeTransaction } from 'viem';
import { bytesToHex, hexToBytes, keccak256 } from 'viem/utils';
import type { Secp256k1 } from './loadSecp256k1.ts';
import type { RelayerAccount } from './openAccount.ts';

/** Bytes of half a signature. */
const HALF_BYTES = 32;

/**
 * Makes an account that signs natively. The key stays within.
 *
 * @param options.address - of the key
 * @param options.privateKey - 32 bytes as hex
 */
export function createNativeAccount(options: {
  readonly address: Hex;
  readonly privateKey: Hex;
  readonly secp256k1: Secp256k1;
}): RelayerAccount {
  const { address, secp256k1 } = options;
  const privateKey = hexToBytes(options.privateKey);
  function sign(digest: Hex) {
    const { signature, recid } = secp256k1.ecdsaSign(hexToBytes(digest), privateKey);
    const [r, s] = [bytesToHex(signature.subarray(0, HALF_BYTES)), bytesToHex(signature.subarray(HALF_BYTES))];
    return { r, s, yParity: recid };
  }
  return {
    address,
    async signMessage({ message }) {
      const { r, s, yParity } = sign(hashMessage(message));
      return `${r}${s.slice(2)}${yParity === 0 ? '1b' : '1c'}`;
    },
    async signTransaction(transaction) {
      const { r, s, yParity } = sign(keccak256(serializeTransaction(transaction)));
      return serializeTransaction(transaction, { r, s, yParity });
    },
  };
}
