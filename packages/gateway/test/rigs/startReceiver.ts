import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { WebhookMessage } from '@prism-gateway/protocol/webhooks';
import { Webhook } from 'standardwebhooks';

/** A message as it arrived. */
export interface Received {
  readonly headers: IncomingHttpHeaders;
  /** As it was sent. */
  readonly body: string;
  readonly message: WebhookMessage;
  /** By the clock of this machine, in milliseconds. */
  readonly at: number;
}

/** A receiver of webhooks on 127.0.0.1. */
export interface Receiver extends AsyncDisposable {
  readonly url: string;
  /** Messages that it has answered well, in the order in which they came. */
  readonly received: readonly Received[];
  /** Messages that came, whatever they were answered. */
  readonly attempts: () => number;
  /** Sets the answer from now on; 'hang': none. */
  answer(status: number | 'hang'): void;
  /** From now on takes only what this secret signs, by the library of the specification; all else gets 401. */
  trust(secret: string): void;
  /** Waits until `count` messages have been answered well. */
  waitFor(count: number): Promise<void>;
  /** Waits until `count` messages have come. */
  waitForAttempts(count: number): Promise<void>;
  close(): Promise<void>;
}

const POLL_MS = 5;

/** Starts a receiver. @param port - 0: any */
export async function startReceiver(port = 0): Promise<Receiver> {
  const received: Received[] = [];
  let attempts = 0;
  let status: number | 'hang' = 204;
  let library: Webhook | undefined;
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    attempts++;
    if (status === 'hang') return;
    const { headers } = request;
    try {
      // The library takes headers that are there once, as these are.
      library?.verify(body, headers as Record<string, string>);
      if (status < 300) received.push({ headers, body, message: JSON.parse(body), at: Date.now() });
      response.writeHead(status, { location: '/elsewhere' }).end();
    } catch {
      response.writeHead(401).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const waitUntil = async (isThere: () => boolean) => {
    while (!isThere()) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  };
  async function close(): Promise<void> {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  return {
    // A listening TCP server has an AddressInfo.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    attempts: () => attempts,
    answer: (next) => {
      status = next;
    },
    trust: (secret) => {
      library = new Webhook(secret);
    },
    waitFor: (count) => waitUntil(() => received.length >= count),
    waitForAttempts: (count) => waitUntil(() => attempts >= count),
    close,
    [Symbol.asyncDispose]: close,
  };
}
