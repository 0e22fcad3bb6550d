import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { createRelayerAuthMessage } from '@prism-gateway/protocol';
import { createKeccak, type IHasher } from 'hash-wasm';

/** The parts of a call that a relayer signs. */
export interface SignedCall {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** Text of the body; empty if there is none. */
  readonly body: string;
}

/** A relayer with a throwaway key. */
export interface RelayerClient {
  /** `0x` and 40 lower-case hex digits. */
  readonly address: string;
  /** @returns the three headers of relayer auth, signed now */
  signHeaders(call: SignedCall): Record<string, string>;
}

/** The part of the native library that signing needs. */
interface Secp256k1 {
  publicKeyCreate(privateKey: Uint8Array, compressed: boolean): Uint8Array;
  ecdsaSign(digest: Uint8Array, privateKey: Uint8Array): { readonly signature: Uint8Array; readonly recid: number };
}

const HASH_BITS = 256;

function createRelayer(secp256k1: Secp256k1, hasher: IHasher): RelayerClient {
  const keccak256 = (data: Uint8Array | string) => hasher.init().update(data).digest('hex');
  // A number of 32 random bytes is no valid key once in 2^128 tries.
  const privateKey = new Uint8Array(randomBytes(32));
  // The first byte says "uncompressed", and is no part of what an address is the hash of.
  const address = `0x${keccak256(secp256k1.publicKeyCreate(privateKey, false).subarray(1)).slice(24)}`;
  return {
    address,
    signHeaders({ method, path, body }) {
      const timestamp = String(Date.now());
      const message = createRelayerAuthMessage({ timestamp, method, path, bodyHash: `0x${keccak256(body)}` });
      // All of it is ASCII, so its length in characters is its length in bytes.
      const digest = keccak256(`\x19Ethereum Signed Message:\n${message.length}${message}`);
      const { signature, recid } = secp256k1.ecdsaSign(Buffer.from(digest, 'hex'), privateKey);
      return {
        'x-relayer-address': address,
        'x-relayer-signature': `0x${Buffer.from(signature).toString('hex')}${recid === 0 ? '1b' : '1c'}`,
        'x-relayer-timestamp': timestamp,
      };
    },
  };
}

/** Makes relayers that sign fast enough to keep a gateway busy: with the native library, not with pure JavaScript. */
export async function createRelayers(count: number): Promise<readonly RelayerClient[]> {
  // The package ships no types for its native half.
  const secp256k1 = createRequire(import.meta.url)('secp256k1/bindings.js') as Secp256k1;
  const hasher = await createKeccak(HASH_BITS);
  return Array.from({ length: count }, () => createRelayer(secp256k1, hasher));
}
