/** Headers of relayer auth, in lower case. */
export const RELAYER_HEADERS = {
  address: 'x-relayer-address',
  signature: 'x-relayer-signature',
  timestamp: 'x-relayer-timestamp',
} as const;

/** How far `X-Relayer-Timestamp` may be from the service's clock, in milliseconds. */
export const RELAYER_TIMESTAMP_SKEW_MS = 5 * 60 * 1000;

/** Keccak-256 of zero bytes: the `Body:` of a call without a body. */
export const EMPTY_BODY_HASH = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470';

export interface RelayerAuthFields {
  /** Unix time in milliseconds, as in the header: 1 to 16 digits. */
  readonly timestamp: string;
  readonly method: string;
  /** Path as the service routes it: no query, host, stage prefix or base path. */
  readonly path: string;
  /** `0x` and 64 lower-case hex digits: keccak-256 of the raw body bytes. */
  readonly bodyHash: string;
}

/**
 * Writes the five-line text that a relayer signs as an EIP-191 personal message.
 *
 * @returns five lines joined by LF, without a trailing one
 * @see docs/specification.md AUTH-2
 * @example createRelayerAuthMessage({ timestamp: '1767225600000', method: 'PATCH', path: '/requests/0197…', bodyHash: '0x…' })
 */
export function createRelayerAuthMessage({ timestamp, method, path, bodyHash }: RelayerAuthFields): string {
  return `Service Relayer Auth\nTimestamp: ${timestamp}\nMethod: ${method.toUpperCase()}\nPath: ${path}\nBody: ${bodyHash}`;
}
