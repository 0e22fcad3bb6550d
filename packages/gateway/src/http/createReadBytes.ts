import type { Awaitable } from '../ports/awaitable.ts';
import { ApiError } from './errors.ts';
import type { RateLimiter } from './rateLimit.ts';
import { andThen, type HttpResponse } from './response.ts';

/** Bytes from which on an answer counts: smaller ones are bounded by their number. */
const LEAST_BYTES = 8192;
/** Most peers that are remembered. */
const MAX_REFUSED = 10_000;
const MS_PER_SECOND = 1000;

/** Counts the bytes of what strangers read. */
export interface ReadBytes {
  /** @param act - makes the answer; it is not even begun for a peer that was refused a moment ago @throws ApiError RATE_LIMITED */
  count(peer: string, act: () => Awaitable<HttpResponse>): Awaitable<HttpResponse>;
}

const bytesOf = ({ body }: HttpResponse) =>
  typeof body === 'string' ? Buffer.byteLength(body) : (body?.byteLength ?? 0);

/**
 * Makes the count: an answer that does not fit is refused, and so is whatever the peer asks for until some does.
 *
 * @see docs/specification.md LIMIT-20
 */
export function createReadBytes(limiter: RateLimiter): ReadBytes {
  const refused = new Map<string, { readonly error: ApiError; readonly untilMs: number }>();

  function refuse(peer: string, error: unknown): never {
    if (error instanceof ApiError) {
      const seconds = Number(error.headers?.['retry-after'] ?? 0);
      refused.set(peer, { error, untilMs: performance.now() + seconds * MS_PER_SECOND });
      const [oldest] = refused.keys();
      if (refused.size > MAX_REFUSED && oldest !== undefined) refused.delete(oldest);
    }
    throw error;
  }

  function take(peer: string, hits: number): Awaitable<unknown> {
    try {
      const taken = limiter.take('read-bytes', { client: peer, hits });
      return taken instanceof Promise ? taken.catch((error: unknown) => refuse(peer, error)) : taken;
    } catch (error) {
      return refuse(peer, error);
    }
  }

  return {
    count(peer, act) {
      const known = refused.get(peer);
      if (known !== undefined) {
        if (performance.now() < known.untilMs) throw known.error;
        refused.delete(peer);
      }
      return andThen(act(), (response) => {
        const bytes = bytesOf(response);
        return bytes < LEAST_BYTES ? response : andThen(take(peer, bytes), () => response);
      });
    },
  };
}
