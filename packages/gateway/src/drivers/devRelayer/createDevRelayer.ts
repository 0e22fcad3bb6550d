import { createHmac } from 'node:crypto';
import type { Keccak256, Secp256k1 } from '@prism-gateway/node/crypto';
import {
  createRelayerAuthMessage,
  EMPTY_BODY_HASH,
  ERROR_CODES,
  type ErrorBody,
  type ErrorCode,
  RELAYER_HEADERS,
  toChecksumAddress,
} from '@prism-gateway/protocol';
import * as z from 'zod/mini';

/** Bytes of an address, at the end of the hash of a public key. */
const ADDRESS_BYTES = 20;
/** A call has no larger body unless `MAX_BODY_BYTES` says so, and it is for people who try calls. */
const MAX_ORDER_BYTES = 1024 * 1024;

/** A call to sign: what the five-line text is made of. */
const orderSchema = z.strictObject({
  method: z.string().check(z.regex(/^[A-Za-z]{1,16}$/)),
  path: z.string().check(z.regex(/^\/[^?#\n]{0,2000}$/)),
  body: z.optional(z.string()),
});

export interface DevRelayerOptions {
  /** Of this installation; the key is made from it. */
  readonly secret: string;
  readonly keccak256: Keccak256;
  readonly secp256k1: Pick<Secp256k1, 'sign' | 'recoverPublicKey'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

function createSigner({ secret, keccak256, secp256k1 }: DevRelayerOptions) {
  const key = createHmac('sha256', secret).update('development relayer').digest();
  function signDigest(digest: Uint8Array) {
    const { signature, recovery } = secp256k1.sign(digest, key);
    return { signature, recovery, publicKey: secp256k1.recoverPublicKey(digest, signature, recovery) };
  }
  const { publicKey = new Uint8Array(0) } = signDigest(keccak256(Buffer.from('address')));
  const address = toChecksumAddress(`0x${hexOf(keccak256(publicKey).slice(-ADDRESS_BYTES))}`, keccak256);
  return {
    address,
    /** @see https://eips.ethereum.org/EIPS/eip-191 */
    signMessage(text: string): string {
      const bytes = Buffer.from(text);
      const digest = keccak256(
        Buffer.concat([Buffer.from(`\x19Ethereum Signed Message:\n${bytes.byteLength}`), bytes]),
      );
      const { signature, recovery } = signDigest(digest);
      return `0x${hexOf(signature)}${(recovery + 27).toString(16)}`;
    },
  };
}

const refuse = (code: ErrorCode, error: string, headers = {}) =>
  Response.json({ error, code } satisfies ErrorBody, { status: ERROR_CODES[code][0], headers });

/** @returns undefined for one that is no order */
function parseOrder(text: string): z.infer<typeof orderSchema> | undefined {
  try {
    return orderSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/**
 * Creates the development relayer: it signs calls for the asking, so that claims and reports can be tried if there is no relayer. It
 * may call once an administrator has put its address on the whitelist. Never mount it in `prod`.
 *
 * @returns answers `POST …/sign`
 * @see docs/specification.md OPERATE-9
 */
export function createDevRelayer(options: DevRelayerOptions): (request: Request) => Promise<Response> {
  let signer: ReturnType<typeof createSigner> | undefined;
  return async function answer(request) {
    if (!new URL(request.url).pathname.endsWith('/sign'))
      return refuse('ROUTE_NOT_FOUND', 'The development relayer has /sign only.');
    if (request.method === 'OPTIONS') return new Response(null, { status: 204 });
    if (request.method !== 'POST')
      return refuse('METHOD_NOT_ALLOWED', 'This endpoint takes POST only.', { allow: 'POST' });
    const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? 'application/json';
    if (type !== 'application/json') return refuse('UNSUPPORTED_MEDIA_TYPE', 'The body must be application/json.');
    const text = await request.text();
    if (Buffer.byteLength(text) > MAX_ORDER_BYTES)
      return refuse('BODY_TOO_LARGE', `The body is larger than ${MAX_ORDER_BYTES} bytes.`);
    const order = parseOrder(text);
    if (order === undefined)
      return refuse('VALIDATION_FAILED', 'Expected JSON with method, path and, if the call has one, body.');
    signer ??= createSigner(options);
    const timestamp = String(options.now());
    const { method, path, body = '' } = order;
    const bodyHash = body === '' ? EMPTY_BODY_HASH : `0x${hexOf(options.keccak256(Buffer.from(body)))}`;
    const signature = signer.signMessage(createRelayerAuthMessage({ timestamp, method, path, bodyHash }));
    const { address: addressName, timestamp: timestampName, signature: signatureName } = RELAYER_HEADERS;
    return Response.json({
      headers: { [addressName]: signer.address, [timestampName]: timestamp, [signatureName]: signature },
    });
  };
}
