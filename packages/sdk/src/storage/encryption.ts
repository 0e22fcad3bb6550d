import type { Bytes } from '../http/fetchOnce.ts';

/**
 * An encrypted object, as it is stored:
 *
 *     byte 0        version, 1
 *     bytes 1..12   IV, 96 random bits
 *     bytes 13..    AES-256-GCM ciphertext, then its tag of 16 bytes
 *
 * The version byte is authenticated as additional data.
 *
 * @see NIST SP 800-38D; random IVs of 96 bits are good for 2^32 objects a key
 */
const VERSION = 1;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + IV_BYTES;

/** Bytes by which an encrypted object is longer than its content. */
export const ENCRYPTION_OVERHEAD_BYTES = HEADER_BYTES + TAG_BYTES;

/** A key that WebCrypto holds; named by what makes one, since the global type has another home in each runtime. */
export type HeldKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** 32 bytes, or a `CryptoKey` for AES-GCM. */
export type EncryptionKey = Uint8Array | HeldKey;

function algorithm(iv: Bytes) {
  return { name: 'AES-GCM', iv, additionalData: Uint8Array.of(VERSION), tagLength: TAG_BYTES * 8 };
}

/**
 * Takes a key into WebCrypto, from where it does not come out again.
 *
 * @throws StorageError INVALID_ENCRYPTION_KEY
 */
export async function importEncryptionKey(key: EncryptionKey): Promise<HeldKey> {
  const isRaw = key instanceof Uint8Array;
  // A 256-bit key of WebCrypto says so.
  const { name, length }: { readonly name?: string; readonly length?: number } = isRaw ? {} : key.algorithm;
  if (isRaw ? key.byteLength !== 32 : name !== 'AES-GCM' || length !== 256) {
    throw new StorageError('INVALID_ENCRYPTION_KEY');
  }
  return isRaw
    ? await crypto.subtle.importKey('raw', new Uint8Array(key), 'AES-GCM', false, ['encrypt', 'decrypt'])
    : key;
}

/**
 * Encrypts content under a fresh random IV: the same content gives another object each time.
 *
 * @returns the object as it is stored
 */
export async function encryptObject(key: HeldKey, content: Uint8Array): Promise<Bytes> {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
  const sealed = await crypto.subtle.encrypt(algorithm(iv), key, new Uint8Array(content));
  const object = new Uint8Array(HEADER_BYTES + sealed.byteLength);
  object[0] = VERSION;
  object.set(iv, 1);
  object.set(new Uint8Array(sealed), HEADER_BYTES);
  return object;
}

/**
 * Decrypts a stored object.
 *
 * @throws StorageError UNKNOWN_FORMAT, DECRYPTION_FAILED
 */
export async function decryptObject(key: HeldKey, object: Uint8Array): Promise<Bytes> {
  if (object[0] !== VERSION || object.byteLength < ENCRYPTION_OVERHEAD_BYTES) throw new StorageError('UNKNOWN_FORMAT');
  const iv = object.slice(1, HEADER_BYTES);
  try {
    return new Uint8Array(await crypto.subtle.decrypt(algorithm(iv), key, object.slice(HEADER_BYTES)));
  } catch (cause) {
    throw new StorageError('DECRYPTION_FAILED', { cause });
  }
}

/** The fault of an object, or of the key to it, as a program matches it. */
export type StorageErrorCode =
  /** The content is not what the key names: altered or mixed up on its way or in the store. */
  | 'CONTENT_MISMATCH'
  /** The object was encrypted with another key, or altered. */
  | 'DECRYPTION_FAILED'
  /** The object is not in a form that this version reads. */
  | 'UNKNOWN_FORMAT'
  /** The encryption key is not a 256-bit AES-GCM key. */
  | 'INVALID_ENCRYPTION_KEY';

const sentences: Readonly<Record<StorageErrorCode, string>> = {
  CONTENT_MISMATCH: 'The content that came does not hash to its key.',
  DECRYPTION_FAILED: 'The object was encrypted with another key, or altered.',
  UNKNOWN_FORMAT: 'The object is in no form that this SDK reads.',
  INVALID_ENCRYPTION_KEY: 'The encryption key must be 32 bytes, or a CryptoKey for AES-GCM.',
};

/** Stored content or its key was not as it must be. Calls that fail are a `GatewayError`. */
export class StorageError extends Error {
  override readonly name = 'StorageError';
  readonly code: StorageErrorCode;

  constructor(code: StorageErrorCode, options?: { readonly cause?: unknown }) {
    super(sentences[code], options);
    this.code = code;
  }
}
