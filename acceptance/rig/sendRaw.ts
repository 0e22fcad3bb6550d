import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { waitOutLimits } from './waitOutLimits.ts';

/** A call that `fetch` would not send as it stands. */
export interface RawCall {
  readonly method: string;
  /** From the API's root, sent as it is. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: Uint8Array;
  /** Without a length: in chunks. */
  readonly isChunked?: boolean;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

async function send(gateway: { readonly url: string }, call: RawCall): Promise<RawAnswer> {
  const base = new URL(gateway.url);
  const request = base.protocol === 'https:' ? requestHttps : requestHttp;
  const headers = { ...call.headers, ...(call.isChunked && { 'transfer-encoding': 'chunked' }) };
  return await new Promise((resolve, reject) => {
    const path = `${base.pathname.replace(/\/$/, '')}${call.path}`;
    const { hostname, port } = base;
    const sent = request({ hostname, port, path, method: call.method, headers }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        // An answered request has a status.
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          text: Buffer.concat(chunks).toString(),
        });
        sent.destroy();
      });
    });
    sent.on('error', reject);
    if (call.isChunked && call.body) {
      // Two writes, so that no length is known when the headers go.
      sent.write(call.body.subarray(0, 1));
      sent.end(call.body.subarray(1));
    } else sent.end(call.body);
  });
}

/**
 * Sends a call below `fetch`: a path that is not made normal, a header twice, a body in chunks, a wrong length.
 *
 * @param gateway.url - base URL
 */
export async function sendRaw(gateway: { readonly url: string }, call: RawCall): Promise<RawAnswer> {
  const retryAfterOf = ({ status, headers }: RawAnswer) =>
    status === 429 ? (headers['retry-after'] ?? '1') : undefined;
  return await waitOutLimits(() => send(gateway, call), retryAfterOf);
}
