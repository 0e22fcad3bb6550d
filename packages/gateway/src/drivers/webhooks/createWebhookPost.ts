import { lookup as lookUpName } from 'node:dns';
import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { WebhookPost, WebhookPostAnswer, WebhookPostOrder } from '../../ports/webhookPost.ts';
import { isPublicAddress, namesPrivateAddress } from '../../rules/publicAddress.ts';

/** How long a receiver has for the head of its answer, from the begin of the connection on, in milliseconds. */
export const POST_TIMEOUT_MS = 10_000;
/** Bytes of an answer that are read, and forgotten, so that its connection can be used again. */
const MAX_ANSWER_BYTES = 16_384;
/** Most connections to one receiver; they stay open between deliveries. */
const MAX_SOCKETS = 8;

/** Resolves names as connections ask for it. */
export type LookUp = typeof lookUpName;

interface PostOptions {
  /** Whether http and addresses that are not public are allowed. */
  readonly allowPrivate: boolean;
  readonly timeoutMs?: number;
  /** The resolver; absent: the system's. */
  readonly lookUp?: LookUp;
}

class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError';
  readonly code = 'PRIVATE_ADDRESS';
}

/**
 * Resolves a name to its public addresses alone. What it returns is what the connection goes to: a name that leads elsewhere at the
 * next look has nothing of it.
 */
export function createPublicLookup(lookUp: LookUp): LookupFunction {
  return function lookUpPublic(hostname, options, callback) {
    lookUp(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, '', 4);
      const open = addresses.filter(({ address }) => isPublicAddress(address));
      const [first] = open;
      if (first === undefined) return callback(new PrivateAddressError(), '', 4);
      if (options.all === true) callback(null, open);
      else callback(null, first.address, first.family);
    });
  };
}

const PRIVATE = 'It leads to a private or loopback address, which is refused unless WEBHOOKS_ALLOW_PRIVATE=true.';

/** One sentence, which names no address: whoever reads it must not learn of networks around. */
function describeFailure(error: unknown): string {
  const { code, name } = error as NodeJS.ErrnoException;
  if (code === 'PRIVATE_ADDRESS') return PRIVATE;
  if (name === 'AbortError' || name === 'TimeoutError' || code === 'ABORT_ERR') return 'It took too long to answer.';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `Its name leads nowhere (${code}).`;
  return `The connection failed (${code ?? 'unknown'}).`;
}

/** Reads on to the end, if it is near. */
function discard(answer: IncomingMessage): void {
  let bytes = 0;
  answer.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) answer.destroy();
  });
  answer.on('error', () => undefined);
}

/** Sends it, and resolves with the head of the answer. */
function exchange(ask: () => ClientRequest, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const outgoing = ask();
    outgoing.on('error', reject);
    outgoing.on('response', (answer) => {
      discard(answer);
      resolve(answer.statusCode ?? 0);
    });
    outgoing.end(body);
  });
}

/**
 * Makes the client that posts to receivers. It connects to the very address that it has checked, follows no redirect, and reads little
 * of what comes back.
 *
 * @see docs/specification.md WEBHOOK-3
 */
export function createWebhookPost(options: PostOptions): WebhookPost & { close(): void } {
  const { allowPrivate, timeoutMs = POST_TIMEOUT_MS, lookUp = lookUpName } = options;
  const sockets = { keepAlive: true, maxSockets: MAX_SOCKETS, maxFreeSockets: MAX_SOCKETS, timeout: timeoutMs };
  const resolver = allowPrivate ? {} : { lookup: createPublicLookup(lookUp) };
  const agents = { http: new HttpAgent(sockets), https: new HttpsAgent(sockets) };

  async function post({ url, headers, body, signal }: WebhookPostOrder): Promise<WebhookPostAnswer> {
    const target = new URL(url);
    const isSecure = target.protocol === 'https:';
    if (!allowPrivate && !isSecure)
      return { error: 'It is not https, which is needed unless WEBHOOKS_ALLOW_PRIVATE=true.' };
    // An address in the URL is connected to without any look-up.
    if (!allowPrivate && namesPrivateAddress(target.hostname)) return { error: PRIVATE };
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const length = { 'content-length': String(Buffer.byteLength(body)) };
    const init = { method: 'POST', headers: { ...headers, ...length }, signal: bounded, ...resolver };
    const ask = isSecure
      ? () => httpsRequest(target, { ...init, agent: agents.https })
      : () => httpRequest(target, { ...init, agent: agents.http });
    try {
      return { status: await exchange(ask, body) };
    } catch (error) {
      return { error: describeFailure(error) };
    }
  }
  return Object.assign(post, {
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  });
}
