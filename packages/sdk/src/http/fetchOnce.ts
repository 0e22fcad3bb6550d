import { abortedError, errorFromFailure } from '../errors/errorFromFailure.ts';
import { errorFromResponse } from '../errors/errorFromResponse.ts';
import { joinSignals } from './joinSignals.ts';

/** Bytes in memory of their own: what WebCrypto and fetch take. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** What calls over HTTP are made with. */
export interface HttpContext {
  readonly fetch: typeof globalThis.fetch;
  /** @returns Unix time in milliseconds */
  readonly now: () => number;
}

/** One call over HTTP. */
export interface HttpRequest {
  /** The call in words, like `POST /requests`; the URL may hold a signature, and enters no message. */
  readonly what: string;
  readonly url: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: Bytes | undefined;
  /** Longest wait for the whole answer, in milliseconds. */
  readonly timeoutMs: number;
  /** A status that is a success beside those of 200 to 299. */
  readonly accept?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** An answer that has come whole. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Bytes;
}

/**
 * Makes one call, once.
 *
 * @throws GatewayError for whatever is no success
 */
export async function fetchOnce({ fetch, now }: HttpContext, call: HttpRequest): Promise<HttpResponse> {
  const { what, url, method, headers, body, signal } = call;
  // What came before, such as a person's signing, may have taken its time.
  if (signal?.aborted) throw abortedError(what, signal, false);
  try {
    const response = await fetch(url, {
      method,
      headers,
      body: body ?? null,
      signal: joinSignals(AbortSignal.timeout(call.timeoutMs), signal),
      // A redirect would carry keys and signatures to another host.
      redirect: 'error',
      credentials: 'omit',
    });
    const { status } = response;
    const answer = { status, headers: response.headers, body: new Uint8Array(await response.arrayBuffer()) };
    if (response.ok || status === call.accept) return answer;
    throw errorFromResponse(answer, { what, nowMs: now() });
  } catch (failure) {
    throw errorFromFailure(failure, { what, signal });
  }
}
