import {
  createRelayerAuthMessage,
  type ErrorCode,
  RELAYER_HEADERS,
  RELAYER_TIMESTAMP_SKEW_MS,
} from '@prism-gateway/protocol';
import type { Caller } from '../http/endpoint.ts';
import { type ApiError, unauthenticated } from '../http/errors.ts';
import type { HttpRequest } from '../http/request.ts';
import type { RelayerStore } from '../ports/relayerStore.ts';
import type { RequestCrypto } from '../ports/requestCrypto.ts';

export interface RelayerAuthPorts {
  readonly relayers: RelayerStore;
  readonly crypto: RequestCrypto;
  readonly now: () => number;
  /** Called with each relayer that has called; absent: nobody asks. */
  readonly recordSeen?: ((address: string) => void) | undefined;
}

/** The parts of a request that the signature covers, and the headers that it comes in. */
type SignedRequest = Pick<HttpRequest, 'raw' | 'method' | 'path' | 'body'>;

/** Half the order of secp256k1, big-endian: a larger `s` is the malleable twin of a smaller one. */
const HALF_ORDER = Buffer.from('7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0', 'hex');

const timestampForm = /^[0-9]{1,16}$/;
const addressForm = /^0x[0-9a-fA-F]{40}$/;
const signatureForm = /^0x[0-9a-fA-F]{130}$/;
/** Forms of a path that two readers may read differently. */
const ambiguousPath = /%|\/\/|\/\.\.?(?:\/|$)/;

const CODES = {
  timestamp: 'RELAYER_TIMESTAMP_REJECTED',
  signature: 'RELAYER_SIGNATURE_REJECTED',
  whitelist: 'RELAYER_WHITELIST_REJECTED',
} as const;

const failed = (check: keyof typeof CODES, why: string, code: ErrorCode = CODES[check]): ApiError =>
  unauthenticated(code, `Relayer authentication failed at the ${check} check: ${why}.`);

function checkTimestamp(timestamp: string | null, now: number): string {
  if (timestamp === null) throw failed('timestamp', 'X-Relayer-Timestamp is missing');
  if (!timestampForm.test(timestamp)) {
    throw failed('timestamp', 'X-Relayer-Timestamp must be Unix time in milliseconds, 1 to 16 digits');
  }
  if (Math.abs(now - Number(timestamp)) > RELAYER_TIMESTAMP_SKEW_MS) {
    throw failed('timestamp', 'X-Relayer-Timestamp is more than 5 minutes from the current time');
  }
  return timestamp;
}

/** Reads a recovery value: 27 and 28, or 0 and 1. */
function recoveryOf(value: number | undefined): number | undefined {
  if (value === 27 || value === 28) return value - 27;
  return value === 0 || value === 1 ? value : undefined;
}

function readSignature(header: string | null): { readonly rs: Uint8Array; readonly recovery: number } {
  if (header === null) throw failed('signature', 'X-Relayer-Signature is missing');
  if (!signatureForm.test(header))
    throw failed('signature', 'X-Relayer-Signature must be 0x and 130 hex digits (65 bytes)');
  const bytes = Buffer.from(header.slice(2), 'hex');
  const recovery = recoveryOf(bytes[64]);
  if (recovery === undefined) throw failed('signature', 'the recovery value must be 27 or 28');
  if (HALF_ORDER.compare(bytes, 32, 64) < 0) throw failed('signature', 's is in the upper half of the order');
  return { rs: bytes.subarray(0, 64), recovery };
}

/** The digest of EIP-191, version 0x45. */
function digestOf(message: string, crypto: RequestCrypto): Uint8Array {
  return crypto.keccak256(Buffer.from(`\x19Ethereum Signed Message:\n${Buffer.byteLength(message)}${message}`));
}

async function recoverAddress(request: SignedRequest, timestamp: string, crypto: RequestCrypto): Promise<string> {
  if (ambiguousPath.test(request.path))
    throw failed('signature', 'a signed path may not hold "%", "//" or a dot segment');
  const { rs, recovery } = readSignature(request.raw.headers.get(RELAYER_HEADERS.signature));
  const bodyHash = `0x${Buffer.from(crypto.keccak256(request.body)).toString('hex')}`;
  const message = createRelayerAuthMessage({ timestamp, method: request.method, path: request.path, bodyHash });
  const publicKey = await crypto.recoverPublicKey(digestOf(message, crypto), rs, recovery);
  if (publicKey === undefined) throw failed('signature', 'no key can have made X-Relayer-Signature');
  return `0x${Buffer.from(crypto.keccak256(publicKey)).toString('hex', 12)}`;
}

/** Names the relayer that a call says it is from, whoever it is from. */
export function claimedRelayer({ raw: { headers } }: Pick<HttpRequest, 'raw'>): string {
  const address = headers.get(RELAYER_HEADERS.address) ?? '';
  return addressForm.test(address) ? `relayer:${address.toLowerCase()}` : 'relayer';
}

/**
 * Authenticates a relayer: its timestamp, then its signature, then its place in the whitelist.
 *
 * @returns the relayer's address as it gave it, and itself as the client that limits count
 * @throws ApiError RELAYER_TIMESTAMP_REJECTED, RELAYER_SIGNATURE_REJECTED, RELAYER_WHITELIST_REJECTED,
 * RELAYER_SUSPENDED
 * @see docs/specification.md AUTH-7, AUTH-9; https://eips.ethereum.org/EIPS/eip-191
 */
export async function authenticateRelayer(ports: RelayerAuthPorts, request: SignedRequest): Promise<Caller<string>> {
  const { headers } = request.raw;
  const timestamp = checkTimestamp(headers.get(RELAYER_HEADERS.timestamp), ports.now());
  const address = headers.get(RELAYER_HEADERS.address);
  if (address === null) throw failed('signature', 'X-Relayer-Address is missing');
  if (!addressForm.test(address)) throw failed('signature', 'X-Relayer-Address must be 0x and 40 hex digits');
  if ((await recoverAddress(request, timestamp, ports.crypto)) !== address.toLowerCase()) {
    throw failed('signature', 'X-Relayer-Signature was not made by X-Relayer-Address over this call');
  }
  const relayer = await ports.relayers.find(address);
  if (relayer === undefined) throw failed('whitelist', `${address} is not a whitelisted relayer`);
  if (relayer.suspendedAt !== undefined) {
    const why = `${address} is suspended (${relayer.suspendReason}); ask the administrator`;
    throw failed('whitelist', why, 'RELAYER_SUSPENDED');
  }
  ports.recordSeen?.(address);
  return { identity: address, client: `relayer:${address.toLowerCase()}` };
}
