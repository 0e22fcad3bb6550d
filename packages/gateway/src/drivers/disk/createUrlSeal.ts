import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { OBJECT_PATH } from '../../rules/objectPath.ts';
import { ObjectRefusedError } from './objectRefusedError.ts';

/** The order that the URL of a local object is signed for. */
export interface PresignedOrder {
  readonly method: string;
  /** `v1/{64 hex}/{32 hex}/{64 hex}`. */
  readonly objectPath: string;
  /** End of the lifetime, in seconds since the epoch. */
  readonly expiresSeconds: number;
  /** The two headers of a put that is bound to its content; absent: no header is signed. */
  readonly bound?: { readonly ifNoneMatch: string; readonly checksum: string } | undefined;
  /** Bytes that a put must bring; absent: any number. */
  readonly size?: number | undefined;
}

/** The signature of an order, and how to check it. */
export interface UrlSeal {
  /** @returns query of the URL, without the question mark */
  seal(order: PresignedOrder): string;
  /**
   * @returns the order that the request brings; its method is the request's own
   * @throws ObjectRefusedError (`OBJECT_URL_REFUSED`) unless the request is one that was sealed
   */
  open(request: Request): PresignedOrder;
}

const OBJECT_URL = new RegExp(`^/objects/(${OBJECT_PATH.source})$`);
const SIGNED_HEADERS = 'if-none-match.x-amz-checksum-sha256';
const EXPIRES = /^[1-9]\d{0,11}$/;
const SIZE = /^(?:0|[1-9]\d{0,15})$/;

/**
 * Makes the seal of local objects' URLs: an HMAC-SHA256 over method, path, end and signed headers, all in the URL but
 * the headers' values, which the request must bring as they were signed.
 *
 * @param signingKey secret bytes, 32 or more
 * @returns the seal
 * @see https://www.rfc-editor.org/rfc/rfc2104
 */
export function createUrlSeal(signingKey: Uint8Array): UrlSeal {
  const key = createSecretKey(signingKey);
  return {
    seal: (order) => {
      const headers = order.bound === undefined ? '' : `&headers=${SIGNED_HEADERS}`;
      const size = order.size === undefined ? '' : `&size=${order.size}`;
      return `expires=${order.expiresSeconds}&method=${order.method}${headers}${size}&signature=${computeSignature(key, order)}`;
    },
    open: (request) => {
      const { order, signature } = parseRequest(request);
      if (!isEqual(computeSignature(key, order), signature)) throw new ObjectRefusedError('OBJECT_URL_REFUSED');
      return order;
    },
  };
}

function computeSignature(key: KeyObject, { method, objectPath, expiresSeconds, bound, size }: PresignedOrder): string {
  const headers =
    bound === undefined ? '' : `if-none-match:${bound.ifNoneMatch}\nx-amz-checksum-sha256:${bound.checksum}\n`;
  // No part can hold a line feed, so that two orders never read alike.
  const text = `prism-object-url-1\n${method}\n${objectPath}\n${expiresSeconds}\n${headers}${size === undefined ? '' : `size:${size}\n`}`;
  return createHmac('sha256', key).update(text).digest('base64url');
}

function parseRequest(request: Request): { order: PresignedOrder; signature: string } {
  const { pathname, searchParams } = new URL(request.url);
  const objectPath = OBJECT_URL.exec(pathname)?.[1];
  const { expires, method, headers, size, signature } = Object.fromEntries(searchParams);
  const isWhole =
    objectPath !== undefined &&
    method === request.method &&
    signature !== undefined &&
    expires !== undefined &&
    EXPIRES.test(expires) &&
    (headers === undefined || headers === SIGNED_HEADERS) &&
    (size === undefined || SIZE.test(size)) &&
    searchParams.size === 3 + Number(headers !== undefined) + Number(size !== undefined);
  if (!isWhole) throw new ObjectRefusedError('OBJECT_URL_REFUSED');
  const bound = headers === undefined ? undefined : readBoundHeaders(request.headers);
  const order = { method, objectPath, expiresSeconds: Number(expires), bound };
  return { order: size === undefined ? order : { ...order, size: Number(size) }, signature };
}

function readBoundHeaders(headers: Headers): { ifNoneMatch: string; checksum: string } {
  return { ifNoneMatch: headers.get('if-none-match') ?? '', checksum: headers.get('x-amz-checksum-sha256') ?? '' };
}

/** Compares the texts, not the bytes they stand for: base64url writes some bytes in more than one way. */
function isEqual(expected: string, given: string): boolean {
  const [left, right] = [Buffer.from(expected), Buffer.from(given)];
  return left.length === right.length && timingSafeEqual(left, right);
}
