import { EventEmitter } from 'node:events';
import http, { type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import https from 'node:https';
import { Readable } from 'node:stream';
import type { Network, NetworkCall } from './network.ts';
import { currentProcess } from './processes.ts';
import { installWeb, wholeBody } from './web.ts';

type ClientCallback = (incoming: IncomingMessage) => void;

/** `http.request` over the simulated network: what our programs use of it. */
function createRequest(network: Network) {
  return (url: URL, options: http.RequestOptions, callback?: ClientCallback) => {
    const outgoing = new EventEmitter();
    const chunks: Uint8Array[] = [];
    if (callback !== undefined) outgoing.once('response', callback);
    async function send(): Promise<void> {
      const init = {
        method: options.method ?? 'GET',
        headers: new Headers(options.headers as Record<string, string>),
        body: chunks.length === 0 ? null : new Uint8Array(Buffer.concat(chunks)),
        ...(options.signal && { signal: options.signal }),
      };
      const response = await network.fetch(url, init);
      const bytes = await response.bytes();
      const body = bytes.length > 0 ? [Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)] : [];
      const head = { statusCode: response.status, headers: Object.fromEntries(response.headers) };
      outgoing.emit('response', Object.assign(Readable.from(body), head));
    }
    return Object.assign(outgoing, {
      write: (chunk: Uint8Array | string) => void chunks.push(Buffer.from(chunk as string)),
      end(chunk?: Uint8Array | string) {
        if (chunk !== undefined && chunk !== null) chunks.push(Buffer.from(chunk as string));
        send().catch((error) => {
          const cause = error instanceof TypeError && error.cause instanceof Error ? error.cause : error;
          outgoing.emit('error', cause);
        });
        return outgoing;
      },
      destroy: () => outgoing,
      setTimeout: () => outgoing,
    });
  };
}

/** Has a listener of `node:http` answer one call. */
function answerCall(listener: RequestListener, { request }: NetworkCall): Promise<Response> {
  return new Promise((resolve) => {
    const url = new URL(request.url);
    const body = wholeBody(request);
    const incoming = Object.assign(
      Readable.from(body === null || body.length === 0 ? [] : [Buffer.from(body as string)]),
      {
        method: request.method,
        url: `${url.pathname}${url.search}`,
        headers: { host: url.host, ...Object.fromEntries(request.headers) },
        socket: { remoteAddress: '10.0.0.1' },
      },
    );
    const headers = new Headers();
    const chunks: Uint8Array[] = [];
    let status = 200;
    const put = (given: Record<string, unknown> = {}) => {
      for (const [name, value] of Object.entries(given)) headers.set(name, String(value));
    };
    const outgoing = Object.assign(new EventEmitter(), {
      headersSent: false,
      setHeader(name: string, value: unknown) {
        headers.set(name, String(value));
        return outgoing;
      },
      writeHead(code: number, given?: Record<string, unknown>) {
        status = code;
        put(given);
        return outgoing;
      },
      write: (chunk: string) => void chunks.push(Buffer.from(chunk)),
      end(chunk?: string | Uint8Array) {
        if (chunk !== undefined) chunks.push(Buffer.from(chunk as string));
        const body = Buffer.concat(chunks);
        resolve(new Response(status === 204 || status === 304 ? null : body, { status, headers }));
        return outgoing;
      },
    });
    Object.defineProperty(outgoing, 'statusCode', {
      set(code: number) {
        status = code;
      },
      get: () => status,
    });
    // The parts of both that our listeners use are there.
    listener(incoming as unknown as IncomingMessage, outgoing as unknown as ServerResponse & { req: IncomingMessage });
  });
}

/** `http.createServer` on the simulated network: it listens under the name of its process's machine. */
function createServerOn(network: Network) {
  let nextPort = 20_000;
  return (...args: readonly unknown[]) => {
    // Called with a listener, or with options before it.
    const listener = args.findLast((arg) => typeof arg === 'function') as RequestListener;
    const server = new EventEmitter();
    let port = 0;
    let close = () => {};
    return Object.assign(server, {
      listen(...given: readonly unknown[]) {
        const [where] = given;
        const asked =
          typeof where === 'object' && where !== null && 'port' in where ? Number(where.port) : Number(where);
        port = asked === 0 ? nextPort++ : asked;
        close = network.listen(`${currentProcess()?.host ?? 'world'}:${port}`, (call) => answerCall(listener, call));
        const callback = given.findLast((arg) => typeof arg === 'function') as (() => void) | undefined;
        queueMicrotask(() => callback?.());
        return server;
      },
      address: () => ({ address: '127.0.0.1', family: 'IPv4', port }),
      close(callback?: () => void) {
        close();
        queueMicrotask(() => callback?.());
        return server;
      },
      closeAllConnections: () => undefined,
      closeIdleConnections: () => undefined,
      unref: () => server,
    });
  };
}

/** Puts the simulated network in place of Node's HTTP. @returns puts it back */
export function installHttp(network: Network): () => void {
  const kept = {
    request: http.request,
    secure: https.request,
    createServer: http.createServer,
    fetch: globalThis.fetch,
  };
  const putWebBack = installWeb();
  const request = createRequest(network);
  Object.assign(http, { request, createServer: createServerOn(network) });
  Object.assign(https, { request });
  globalThis.fetch = network.fetch;
  return () => {
    Object.assign(http, { request: kept.request, createServer: kept.createServer });
    Object.assign(https, { request: kept.secure });
    globalThis.fetch = kept.fetch;
    putWebBack();
  };
}
