import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { listenOnLoopback } from './listenOnLoopback.ts';

/** A message as it arrived. */
export interface ReceivedMessage {
  /** Path and query. */
  readonly path: string;
  readonly body: unknown;
}

/** A running receiver of webhooks. */
export interface ChatReceiver extends AsyncDisposable {
  /** With a secret in its path, as webhooks have. */
  readonly url: string;
  readonly messages: readonly ReceivedMessage[];
  /** Answers the next `count` messages with a status, and keeps none of them. */
  refuseNext(count: number, answer: { readonly status: number; readonly retryAfterSeconds?: number }): void;
  /** Waits until `count` messages have arrived. */
  waitForMessages(count: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts a receiver of chat webhooks on 127.0.0.1.
 *
 * @param onMessage - called with each message
 * @returns the running receiver
 */
export async function startChatReceiver(
  onMessage: (message: ReceivedMessage) => void = () => undefined,
): Promise<ChatReceiver> {
  const messages: ReceivedMessage[] = [];
  const waiters = new Set<() => void>();
  let refusals = 0;
  let refusal: { readonly status: number; readonly retryAfterSeconds?: number } = { status: 503 };
  const server = createServer((request, response) => {
    text(request).then(
      (body) => {
        if (refusals > 0) {
          refusals--;
          const { status, retryAfterSeconds } = refusal;
          response
            .writeHead(status, retryAfterSeconds === undefined ? {} : { 'retry-after': `${retryAfterSeconds}` })
            .end();
          return;
        }
        const message = { path: request.url ?? '/', body: JSON.parse(body) as unknown };
        messages.push(message);
        onMessage(message);
        response.writeHead(200).end('ok');
        for (const wake of waiters) wake();
      },
      () => response.destroy(),
    );
  });
  const { url, close } = await listenOnLoopback(server);
  return {
    url: `${url}/hooks/webhook-path-of-the-rig`,
    messages,
    refuseNext(count, answer) {
      refusals = count;
      refusal = answer;
    },
    waitForMessages: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (messages.length < count) return;
          waiters.delete(look);
          resolve();
        };
        waiters.add(look);
        look();
      }),
    close,
    [Symbol.asyncDispose]: close,
  };
}
