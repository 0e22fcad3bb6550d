import {
  type Address,
  type Hex,
  hashMessage,
  keccak256,
  type SignableMessage,
  serializeTransaction,
  type TransactionSerializable,
} from 'viem';

/** Signs messages and transactions. The key stays within. */
export interface Account {
  readonly address: Address;
  /** Signs a message as EIP-191 has it, version 0x45. @see https://eips.ethereum.org/EIPS/eip-191 */
  signMessage(parameters: { readonly message: SignableMessage }): Promise<Hex>;
  /** Signs a transaction and returns its serialised bytes. */
  signTransaction(transaction: TransactionSerializable): Promise<Hex>;
}

/** A signature of a digest, with a low `s`. */
export interface DigestSignature {
  readonly r: Hex;
  readonly s: Hex;
  readonly yParity: 0 | 1;
}

/**
 * Makes an account of whatever signs digests.
 *
 * @param signer.address - of the key
 * @param signer.signDigest - signs 32 bytes
 */
export function createSigningAccount(signer: {
  readonly address: Address;
  readonly signDigest: (digest: Hex) => DigestSignature | Promise<DigestSignature>;
}): Account {
  const { address, signDigest } = signer;
  return {
    address,
    async signMessage({ message }) {
      const { r, s, yParity } = await signDigest(hashMessage(message));
      return `${r}${s.slice(2)}${yParity === 0 ? '1b' : '1c'}` as Hex;
    },
    async signTransaction(transaction) {
      return serializeTransaction(transaction, await signDigest(keccak256(serializeTransaction(transaction))));
    },
  };
}

/** The faults of a key. */
type AccountErrorCode = 'INVALID_ARGUMENT' | 'KEYSTORE_INVALID' | 'KEYSTORE_PASSWORD_WRONG' | 'KMS_FAILED';

/** A key that cannot be opened. It says nothing of the key, nor of its password. */
export class AccountError extends Error {
  override readonly name = 'AccountError';
  /** Stable; match by it, never by the message. */
  readonly code: AccountErrorCode;

  /**
   * @param message - one sentence: what was wrong, and what to do next; without secrets
   * @param options.cause - the error behind it
   */
  constructor(code: AccountErrorCode, message: string, options?: { readonly cause: unknown }) {
    super(message, options);
    this.code = code;
  }
}
