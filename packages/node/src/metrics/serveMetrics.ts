import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Writes the metrics: a `Registry` of prom-client. */
export interface MetricsSource {
  /** The media type of the text. */
  readonly contentType: string;
  /** The text, in Prometheus' format. */
  metrics(): Promise<string>;
}

/** The answer of one path. */
export interface Page {
  /** Default 200. */
  readonly status?: number;
  /** Default `text/plain`. */
  readonly contentType?: string;
  readonly body: string;
}

/** Makes an answer. @param url - as it was asked for, with its query */
export type PageMaker = (url: URL) => Page | Promise<Page>;

/** A server of metrics. */
export interface MetricsServer {
  /** Like `http://127.0.0.1:9464`. */
  readonly url: string;
  close(): Promise<void>;
}

/** How long a client may take to send its request, in milliseconds. */
const REQUEST_TIMEOUT_MS = 5000;
/** Most connections at once. */
const MAX_CONNECTIONS = 20;

async function showPage(outgoing: ServerResponse, makePage: () => Page | Promise<Page>): Promise<void> {
  try {
    const { status = 200, contentType = 'text/plain', body } = await makePage();
    outgoing.writeHead(status, { 'content-type': contentType }).end(body);
  } catch {
    outgoing.writeHead(500).end();
  }
}

/**
 * Serves `GET /metrics` and `GET /health`, and what else a daemon has to show; to this machine alone unless another host is named.
 *
 * @param options.registry - what writes the metrics
 * @param options.pages - further paths, by name; one named `/health` replaces the one that always answers `ok`
 * @param options.port - 0 for any free one
 * @param options.host - address to listen on; default 127.0.0.1
 * @throws Error of node:net, such as EADDRINUSE
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/
 */
export async function serveMetrics(options: {
  readonly registry: MetricsSource;
  readonly port: number;
  readonly host?: string;
  readonly pages?: Readonly<Record<string, PageMaker>>;
}): Promise<MetricsServer> {
  const { registry, port, host = '127.0.0.1' } = options;
  const pages = new Map<string, PageMaker>(Object.entries({ '/health': () => ({ body: 'ok\n' }), ...options.pages }));
  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS },
    (incoming, outgoing) => {
      incoming.resume();
      if (incoming.method !== 'GET') return void outgoing.writeHead(405, { allow: 'GET' }).end();
      const url = URL.parse(incoming.url ?? '', 'http://127.0.0.1');
      const makePage = pages.get(url?.pathname ?? '');
      if (url !== null && makePage !== undefined) return void showPage(outgoing, () => makePage(url));
      if (url?.pathname !== '/metrics') return void outgoing.writeHead(404).end();
      registry.metrics().then(
        (text) => outgoing.writeHead(200, { 'content-type': registry.contentType }).end(text),
        () => outgoing.writeHead(500).end(),
      );
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, resolve);
  });
  return {
    // A listening TCP server has an AddressInfo.
    url: `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
