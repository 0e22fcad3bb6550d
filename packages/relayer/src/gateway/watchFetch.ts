import { Agent as HttpAgent, type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { arrayBuffer } from 'node:stream/consumers';
import type { Health } from '../events/createHealth.ts';

/** Statuses that say that this relayer is let in to nothing. */
const REFUSED = [401, 403];

/** The status of a limit, which looks at no credential. */
const LIMITED = 429;

/** Headers by which a caller proves who it is. */
const CREDENTIALS = ['x-relayer-address', 'x-admin-key'];

/** Which of them a call has; none of a public one. */
function credentialOf(headers: RequestInit['headers']): string {
  const given = new Headers(headers);
  return CREDENTIALS.find((name) => given.has(name)) ?? '';
}

/** Statuses by which a proxy says that the gateway behind it does not answer. */
const AWAY = [502, 504];

/** Whether an answer is none of a gateway's, which are JSON: a proxy may have no route to one that is being replaced. */
const isProxys = ({ headers }: Response) => !headers.get('content-type')?.includes('json');

/** Most characters of a gateway's own words that are shown. */
const MAX_WORDS = 300;

/** Why the gateway refuses this relayer, in its own words. @returns that, and the answer with a body that is still to be read */
async function readRefusal(response: Response): Promise<{ readonly why: string; readonly response: Response }> {
  const { status, headers } = response;
  const text = await response.text();
  const again = new Response(text, { status, headers });
  try {
    const { error } = JSON.parse(text) as { readonly error?: unknown };
    if (typeof error === 'string')
      return { why: `it answers ${status}: ${error.replaceAll(/\p{Cc}/gu, ' ').slice(0, MAX_WORDS)}`, response: again };
  } catch {
    // It gives no reason.
  }
  return { why: `it answers ${status}`, response: again };
}

/** By how much clocks may differ, in milliseconds: the gateway refuses signatures from five minutes on. */
const MAX_SKEW_MS = 60_000;

/** The answer was dated between the question and its end, in whole seconds: if the call waited, that may show neither. */
function compareClocks(
  health: Health,
  {
    date,
    askedAtMs,
    answeredAtMs,
  }: { readonly date: string | null; readonly askedAtMs: number; readonly answeredAtMs: number },
): void {
  const theirsMs = Date.parse(date ?? '');
  if (Number.isNaN(theirsMs)) return;
  const [aheadMs, atMostAheadMs] = [askedAtMs - theirsMs - 1000, answeredAtMs - theirsMs];
  const off =
    aheadMs > 0
      ? `${Math.round(aheadMs / 1000)} seconds ahead of`
      : `${Math.round(-atMostAheadMs / 1000)} seconds behind`;
  if (aheadMs > MAX_SKEW_MS || -atMostAheadMs > MAX_SKEW_MS)
    health.recordFailure('clock', `it is ${off} the gateway's; set the clock of this machine, or of the gateway's`);
  else if (atMostAheadMs <= MAX_SKEW_MS && -aheadMs <= MAX_SKEW_MS) health.recordWell('clock');
}

/**
 * Watches calls of the gateway: whether it answers, and lets this relayer in.
 *
 * @param watch.health - notified of each answer, and of a clock that is not the gateway's
 * @param watch.now - Unix time in milliseconds
 * @param watch.onReturn - called when the gateway answers again that did not answer before
 */
export function watchFetch(
  fetch: typeof globalThis.fetch,
  watch: {
    readonly health: Health;
    readonly now: () => number;
    readonly onReturn?: () => void;
  },
): typeof fetch {
  const { health, now, onReturn } = watch;
  let isAway = false;
  /** Why a credential is refused, by its header: that public calls are answered does not mend it. */
  const refusals = new Map<string, string>();
  function recordAnswer(status: number, headers: RequestInit['headers']): void {
    if (refusals.size > 0 && status !== LIMITED) refusals.delete(credentialOf(headers));
    const [why] = refusals.values();
    if (why === undefined) health.recordWell('gateway');
    else health.recordFailure('gateway', why);
  }
  return async function watchedFetch(input, init) {
    try {
      const askedAtMs = now();
      let response = await fetch(input, init);
      const { status } = response;
      compareClocks(health, { date: response.headers.get('date'), askedAtMs, answeredAtMs: now() });
      const isPage = isProxys(response);
      if (isPage) health.recordFailure('gateway', `it answers ${status}, and not as a gateway does`);
      else if (status >= 500) health.recordFailure('gateway', `it answers ${status}`);
      else if (REFUSED.includes(status)) {
        const refusal = await readRefusal(response);
        response = refusal.response;
        refusals.set(credentialOf(init?.headers), refusal.why);
        health.recordFailure('gateway', refusal.why);
      } else recordAnswer(status, init?.headers);
      if (isPage || AWAY.includes(status)) isAway = true;
      else if (isAway && status < 500) {
        isAway = false;
        onReturn?.();
      }
      return response;
    } catch (error) {
      // Whoever gives up waiting says nothing of the gateway, unless it was for too long: a host that lost its power ends no connection.
      const { aborted = false, reason } = init?.signal ?? {};
      if (!aborted || reason?.name === 'TimeoutError') {
        isAway = true;
        health.recordFailure('gateway', 'it does not answer');
      }
      throw error;
    }
  };
}

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
