import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What writes the metrics: a `Registry` of prom-client. */
export interface MetricsSource {
  /** The media type of the text. */
  readonly contentType: string;
  /** The text, in Prometheus' format. */
  metrics(): Promise<string>;
}

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

/**
 * Serves `GET /metrics` and `GET /health` on this machine alone.
 *
 * @param options.registry - what writes the metrics
 * @param options.port - 0 for any free one
 * @returns the server, which listens
 * @throws Error of node:net, such as EADDRINUSE
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/
 */
export async function serveMetrics(options: {
  readonly registry: MetricsSource;
  readonly port: number;
}): Promise<MetricsServer> {
  const { registry, port } = options;
  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS },
    (incoming, outgoing) => {
      incoming.resume();
      if (incoming.method !== 'GET') return void outgoing.writeHead(405, { allow: 'GET' }).end();
      if (incoming.url === '/health') return void outgoing.writeHead(200, { 'content-type': 'text/plain' }).end('ok\n');
      if (incoming.url !== '/metrics') return void outgoing.writeHead(404).end();
      registry.metrics().then(
        (text) => outgoing.writeHead(200, { 'content-type': registry.contentType }).end(text),
        () => outgoing.writeHead(500).end(),
      );
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port }, resolve);
  });
  return {
    // A listening TCP server has an AddressInfo.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
