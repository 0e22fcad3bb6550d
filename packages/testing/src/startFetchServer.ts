import { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { type LoopbackServer, listenOnLoopback } from './listenOnLoopback.ts';

/**
 * Serves a fetch handler on 127.0.0.1 by the HTTP stack that the gateway runs on.
 *
 * @param handler answers each request; `request.method` is as sent, HEAD too
 * @returns its URL and how to stop it
 */
export async function startFetchServer(handler: (request: Request) => Promise<Response>): Promise<LoopbackServer> {
  const server = createAdaptorServer({ fetch: (request) => handler(request), overrideGlobalObjects: false });
  if (!(server instanceof Server)) throw new TypeError('expected an HTTP/1.1 server');
  return listenOnLoopback(server);
}
