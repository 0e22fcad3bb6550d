import { Agent, type RequestOptions, request } from 'node:https';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';

export interface ProxiedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** A call to the proxy. */
export interface ProxiedCall {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | number>>;
  readonly body?: Readable | string;
  /** Address of this machine to call from. */
  readonly from?: string;
}

// The certificate of the rig is its own.
const agent = new Agent({ keepAlive: true, maxSockets: 64, rejectUnauthorized: false });

/**
 * Calls an address of the proxy over TLS.
 *
 * @param port - of 127.0.0.1
 * @throws Error of node:http
 */
export async function callThrough(
  port: number,
  { method = 'GET', path, headers, body, from }: ProxiedCall,
): Promise<ProxiedAnswer> {
  const options: RequestOptions = { host: '127.0.0.1', port, path, method, agent, ...(headers && { headers }) };
  const outgoing = request({ ...options, ...(from !== undefined && { localAddress: from }) });
  const answered = new Promise<ProxiedAnswer>((resolve, reject) => {
    outgoing.once('error', reject).once('response', (incoming) => {
      buffer(incoming).then(
        (all) => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: all }),
        reject,
      );
    });
  });
  if (body === undefined || typeof body === 'string') outgoing.end(body);
  // Who refuses a body closes before it has all come; the answer says why.
  else pipeline(body, outgoing).catch(() => undefined);
  return await answered;
}
