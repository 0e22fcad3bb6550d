import { createServer, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listenOnLoopback } from '@prism-gateway/testing';

/** Passes calls on, and counts them. */
export interface CallCounter {
  readonly url: string;
  /** HTTP calls since the last look; a batch of JSON-RPC counts each of its calls. */
  take(): { readonly http: number; readonly rpc: ReadonlyMap<string, number> };
  close(): Promise<void>;
}

/**
 * Starts a proxy on 127.0.0.1 that counts.
 *
 * @param upstream where calls go on to
 * @returns the running proxy
 */
export async function startCallCounter(upstream: string): Promise<CallCounter> {
  let http = 0;
  let rpc = new Map<string, number>();
  const server = createServer((incoming, response) => {
    const pass = async () => {
      const body = await buffer(incoming);
      http++;
      for (const [, method = ''] of body.toString('utf8').matchAll(/"method":"(\w+)"/g))
        rpc.set(method, (rpc.get(method) ?? 0) + 1);
      const url = new URL(incoming.url ?? '/', upstream);
      const outgoing = request(url, { method: incoming.method, headers: { ...incoming.headers, host: url.host } });
      outgoing.once('response', (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      outgoing.once('error', () => response.destroy());
      outgoing.end(body);
    };
    pass().catch(() => response.destroy());
  });
  const { url, close } = await listenOnLoopback(server);
  return {
    url,
    take() {
      const counted = { http, rpc };
      http = 0;
      rpc = new Map();
      return counted;
    },
    close,
  };
}
