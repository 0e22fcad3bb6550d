import { Agent as HttpAgent, type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { arrayBuffer } from 'node:stream/consumers';

/** Most connections to the gateway. */
const MAX_SOCKETS = 32;

/** Statuses whose answers have no body, as `Response` wants it. */
const EMPTY_STATUSES = [204, 205, 304];

function readHeaders(incoming: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  return headers;
}

async function readResponse(incoming: IncomingMessage): Promise<Response> {
  const body = await arrayBuffer(incoming);
  const status = incoming.statusCode ?? 500;
  // As `redirect: 'error'` has it: keys and signatures go to no other host.
  if (status >= 300 && status < 400 && status !== 304) throw new TypeError('fetch failed: a redirect');
  return new Response(EMPTY_STATUSES.includes(status) ? null : body, { status, headers: readHeaders(incoming) });
}

/**
 * Makes a `fetch` for the SDK on Node's own HTTP client: half the work of the global one, and most of what a relayer does is calling its
 * gateway. It takes what the SDK gives: bytes as body, plain headers, a signal; it never follows a redirect.
 *
 * @returns the function, which keeps connections open
 */
export function createKeepAliveFetch(): typeof globalThis.fetch {
  const settings = { keepAlive: true, maxSockets: MAX_SOCKETS };
  const agents = { 'http:': new HttpAgent(settings), 'https:': new HttpsAgent(settings) } as const;
  return async function keepAliveFetch(input, init = {}) {
    const url = new URL(input instanceof Request ? input.url : input);
    const { method = 'GET', headers, body, signal } = init;
    const isPlain = url.protocol === 'http:';
    const options: RequestOptions = {
      method,
      // The SDK's headers are a plain object of texts.
      headers: headers as Record<string, string>,
      agent: isPlain ? agents['http:'] : agents['https:'],
      ...(signal && { signal }),
    };
    return await new Promise<Response>((resolve, reject) => {
      const outgoing = (isPlain ? requestHttp : requestHttps)(url, options, (incoming) => {
        readResponse(incoming).then(resolve, reject);
      });
      outgoing.on('error', (error) =>
        reject(signal?.aborted ? signal.reason : new TypeError('fetch failed', { cause: error })),
      );
      // The SDK's bodies are bytes, or null.
      outgoing.end((body as Uint8Array | null | undefined) ?? undefined);
    });
  };
}
