import type { ObjectSigner, SignedOperation } from '../../ports/objectSigner.ts';
import type { UrlSeal } from './createUrlSeal.ts';

const METHODS = { put: 'PUT', get: 'GET', head: 'HEAD', delete: 'DELETE' } as const;

/**
 * Makes the signer of presigned URLs for local objects.
 *
 * @param options base of the URLs, without a slash at its end, and the seal that the objects' server knows
 * @returns signer; it never fails
 */
export function createDiskSigner({ publicUrl, seal }: { publicUrl: string; seal: UrlSeal }): ObjectSigner {
  return {
    async sign(order): Promise<SignedOperation> {
      const method = METHODS[order.operation];
      const expiresSeconds = Math.floor(order.nowMs / 1000) + order.lifetimeSeconds;
      const isBound = order.operation === 'put' && order.contentSha256 !== undefined;
      const checksum = isBound ? Buffer.from(order.contentSha256, 'hex').toString('base64') : undefined;
      const bound = checksum === undefined ? undefined : { ifNoneMatch: '*', checksum };
      const size = order.operation === 'put' ? order.size : undefined;
      const query = seal.seal({ method, objectPath: order.objectPath, expiresSeconds, bound, size });
      return {
        url: `${publicUrl}/objects/${order.objectPath}?${query}`,
        method,
        headers: {
          ...(size !== undefined && { 'content-length': String(size) }),
          ...(checksum !== undefined && { 'if-none-match': '*', 'x-amz-checksum-sha256': checksum }),
        },
        expiresAtMs: expiresSeconds * 1000,
      };
    },
  };
}
