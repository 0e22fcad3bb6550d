import { abortedError, errorFromFailure, errorFromResponse, unexpectedAnswer } from '../errors/gatewayError.ts';
import { joinSignals } from './signals.ts';

/** Bytes in memory of their own: what WebCrypto and fetch take. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** The context of calls over HTTP. */
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
  /** Most bytes of the answer; default any number. */
  readonly mostBytes?: number | undefined;
  /** A status that is a success beside those of 200 to 299. */
  readonly accept?: number | undefined;
  /** It goes to an object store. */
  readonly isObject?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** An answer that has come whole. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Bytes;
}

async function readBody(response: Response, { what, mostBytes = Infinity }: HttpRequest): Promise<Bytes> {
  const reader = response.body?.getReader();
  const parts: Bytes[] = [];
  let bytes = 0;
  for (let next = await reader?.read(); next?.value; next = await reader?.read()) {
    parts.push(next.value);
    bytes += next.value.byteLength;
    if (bytes > mostBytes) {
      await reader?.cancel();
      throw unexpectedAnswer(what, `answer of at most ${mostBytes} bytes`);
    }
  }
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole;
}

/**
 * Makes one call, once.
 *
 * @throws GatewayError for whatever is no success
 */
export async function fetchOnce({ fetch, now }: HttpContext, call: HttpRequest): Promise<HttpResponse> {
  const { what, url, method, headers, body, signal, isObject } = call;
  // Earlier steps, such as a person's signing, may have taken their time.
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
    const answer = { status, headers: response.headers, body: await readBody(response, call) };
    if (response.ok || status === call.accept) return answer;
    throw errorFromResponse(answer, { what, nowMs: now(), isObject });
  } catch (failure) {
    throw errorFromFailure(failure, { what, signal });
  }
}
