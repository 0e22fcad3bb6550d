import { randomBytes } from 'node:crypto';
import { loadKeccak256, loadSecp256k1 } from '@prism-gateway/node/crypto';
import { createRelayerAuthMessage, RELAYER_HEADERS } from '@prism-gateway/protocol';
import { privateKeyToAddress } from 'viem/accounts';

/** A call as a relayer signs it. */
export interface SignedCall {
  readonly method: 'GET' | 'PATCH' | 'POST';
  /** Without the query. */
  readonly path: string;
  readonly body?: string;
  /** Milliseconds since the epoch; default now. */
  readonly timestampMs?: number;
}

/** A relayer with a throwaway key. */
export interface BenchRelayer {
  /** In lower case. */
  readonly address: string;
  /** Signs a call. @returns the three headers of relayer auth */
  signHeaders(call: SignedCall): Record<string, string>;
}

/**
 * Makes relayers that sign on the native library, so that the load takes little from the cores it shares with what it measures.
 *
 * @see docs/specification.md AUTH-2; EIP-191
 */
export async function loadRelayers(count: number): Promise<BenchRelayer[]> {
  const { sign } = loadSecp256k1('native');
  const keccak256 = await loadKeccak256();
  const hash = (text: string) => keccak256(Buffer.from(text));
  return Array.from({ length: count }, () => {
    const privateKey = randomBytes(32);
    const address = privateKeyToAddress(`0x${privateKey.toString('hex')}`).toLowerCase();
    return {
      address,
      signHeaders({ method, path, body = '', timestampMs = Date.now() }) {
        const bodyHash = `0x${Buffer.from(hash(body)).toString('hex')}`;
        const message = createRelayerAuthMessage({ timestamp: String(timestampMs), method, path, bodyHash });
        // All of it is ASCII, so that its length in characters is its length in bytes.
        const digest = hash(`\x19Ethereum Signed Message:\n${message.length}${message}`);
        const { signature, recovery } = sign(digest, privateKey);
        return {
          [RELAYER_HEADERS.address]: address,
          [RELAYER_HEADERS.signature]: `0x${Buffer.from(signature).toString('hex')}${recovery === 0 ? '1b' : '1c'}`,
          [RELAYER_HEADERS.timestamp]: String(timestampMs),
        };
      },
    };
  });
}
