import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listenOnLoopback } from '@prism-gateway/testing';

/** A line to a server that can be cut. */
export interface Line {
  readonly url: string;
  /** From now on nothing gets through. */
  cut(): void;
  /** From now on calls of a path are answered with a status, default 500, and do not get through; undefined: of none. */
  refuse(path: string | undefined, status?: number): void;
  close(): Promise<void>;
}

/**
 * Starts a line to a server.
 *
 * @param target - its URL, asked at each call
 */
export async function startLine(target: () => string): Promise<Line> {
  let isCut = false;
  let refused: { readonly path: string | undefined; readonly status: number } | undefined;

  async function pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(incoming);
    if (isCut) return void response.destroy();
    if (refused !== undefined && incoming.url === refused.path) return void response.writeHead(refused.status).end();
    const { host, connection, 'content-length': length, ...headers } = incoming.headers;
    const answer = await fetch(new URL(incoming.url ?? '/', target()), {
      method: incoming.method ?? 'GET',
      // The headers of a call of `fetch` have one value each.
      headers: headers as Record<string, string>,
      ...(body.length === 0 ? {} : { body }),
    });
    const text = await answer.text();
    if (isCut) return void response.destroy();
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
  }

  const server = createServer((incoming, response) => {
    pass(incoming, response).catch(() => response.destroy());
  });
  const { url, close } = await listenOnLoopback(server);
  return {
    url,
    cut() {
      isCut = true;
    },
    refuse(path, status = 500) {
      refused = { path, status };
    },
    close,
  };
}
