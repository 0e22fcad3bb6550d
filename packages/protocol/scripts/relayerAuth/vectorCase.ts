import { type Hex, hashMessage, hexToBytes, keccak256, recoverAddress, stringToHex } from 'viem';
import { privateKeyToAddress, sign } from 'viem/accounts';
import { createRelayerAuthMessage } from '../../src/auth/relayerAuth.ts';
import { DEVELOPMENT_KEYS } from '../developmentKeys.ts';

/** The service's verdict: it lets the call pass, or the first of its checks, in their order, to fail. */
export type Verdict = 'accepted' | 'timestamp' | 'signature' | 'whitelist';

/** One case, by what differs from a good claim. */
export interface Case {
  readonly name: string;
  readonly expected: Verdict;
  /** Why, if the name does not say it. */
  readonly note?: string;
  /** The service's clock, in milliseconds. */
  readonly now?: number;
  /** Text of `X-Relayer-Timestamp`; signed as it stands. */
  readonly timestamp?: string;
  readonly method?: string;
  readonly path?: string;
  readonly query?: string;
  /** Raw body, as text or as bytes in hex; null: none. */
  readonly body?: string | { readonly hex: Hex } | null;
  /** Which development key signs, by its place. */
  readonly key?: 0 | 1 | 2;
  /** The signed values, if they differ from those sent. */
  readonly signed?: { timestamp?: string; method?: string; path?: string; bodyHash?: string };
  /** Rewrites the text before it is signed. */
  readonly message?: (message: string) => string;
  /** Hashes the text in place of EIP-191. */
  readonly digest?: (message: string) => Hex;
  /** Rewrites the signature before it is sent. */
  readonly signature?: (signature: Hex) => string;
  /** Headers sent in place of the right ones; null: not sent. */
  readonly headers?: { address?: string | null; signature?: string | null; timestamp?: string | null };
  /** False where an HTTP client or the router changes or refuses the path before auth sees it. */
  readonly overHttp?: boolean;
}

export const NOW = 1767225600000;
export const REQUEST_PATH = '/requests/0197c2a4-5b1e-7c3d-8f60-0242ac120002';
export const CLAIM_BODY = '{"status":"processing"}';
export const ADDRESSES = DEVELOPMENT_KEYS.map((key) => privateKeyToAddress(key));
/** The third development key stands for a relayer that is not whitelisted. */
export const WHITELIST = ADDRESSES.slice(0, 2);

function hexOfBody(body: string | { readonly hex: Hex } | null): Hex {
  if (body === null) return '0x';
  return typeof body === 'string' ? stringToHex(body) : body.hex;
}

/** The body as text, or null where the bytes are not UTF-8. */
function textOfBody(hex: Hex): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(hexToBytes(hex));
  } catch {
    return null;
  }
}

async function signCase(vector: Case, sent: { timestamp: string; method: string; path: string; bodyHex: Hex }) {
  const privateKey = DEVELOPMENT_KEYS[vector.key ?? 0];
  const { bodyHash = keccak256(sent.bodyHex), ...fields } = vector.signed ?? {};
  const { timestamp, method, path } = { ...sent, ...fields };
  // `createRelayerAuthMessage` would put a wrong method right.
  const right = createRelayerAuthMessage({ timestamp, method: '-', path, bodyHash }).replace(
    'Method: -',
    `Method: ${method}`,
  );
  const message = vector.message ? vector.message(right) : right;
  const digest = vector.digest ? vector.digest(message) : hashMessage(message);
  const signature = await sign({ hash: digest, privateKey, to: 'hex' });
  return { privateKey, address: privateKeyToAddress(privateKey), bodyHash, message, digest, signature };
}

function headersOf(vector: Case, right: { address: string; signature: string; timestamp: string }) {
  const sent = { ...right, ...vector.headers };
  const headers: Record<string, string> = {};
  if (sent.address !== null) headers['X-Relayer-Address'] = sent.address;
  if (sent.signature !== null) headers['X-Relayer-Signature'] = sent.signature;
  if (sent.timestamp !== null) headers['X-Relayer-Timestamp'] = sent.timestamp;
  return headers;
}

/** Builds the vector of one case, as it stands in `vectors/relayer-auth.json`. */
export async function buildVector(vector: Case) {
  const { method = 'PATCH', path = REQUEST_PATH, query = '', body = CLAIM_BODY } = vector;
  const { now = NOW, timestamp = String(now) } = vector;
  const bodyHex = hexOfBody(body);
  const signed = await signCase(vector, { timestamp, method, path, bodyHex });
  const signature = vector.signature ? vector.signature(signed.signature) : signed.signature;
  const recovered = vector.expected === 'accepted' || vector.expected === 'whitelist';
  return {
    name: vector.name,
    ...(vector.note && { note: vector.note }),
    expected: vector.expected,
    overHttp: vector.overHttp ?? true,
    now,
    request: {
      method,
      path,
      query,
      headers: headersOf(vector, { address: signed.address, signature, timestamp }),
      bodyHex,
      bodyText: textOfBody(bodyHex),
    },
    signed,
    recoveredAddress: recovered ? await recoverAddress({ hash: signed.digest, signature: signature as Hex }) : null,
  };
}
