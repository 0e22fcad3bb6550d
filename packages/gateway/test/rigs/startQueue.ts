import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { listenOnLoopback } from '@prism-gateway/testing';

/** A message of a queue, as Lambda hands it on. */
export interface QueueMessage {
  readonly messageId: string;
  readonly body: string;
  readonly eventSource: 'aws:sqs';
}

interface Stored extends QueueMessage {
  /** By the clock of this machine, in milliseconds. */
  readonly visibleAt: number;
}

/** A small queue that takes messages by SQS's protocol, and hands them on when they are due, each until it is done. */
export interface Queue extends AsyncDisposable {
  readonly url: string;
  /** Takes what is due; whoever does not finish it puts it back. */
  receive(): readonly QueueMessage[];
  putBack(messages: readonly QueueMessage[]): void;
  /** Delays of all messages so far, in seconds. */
  readonly delays: readonly number[];
  /** How the next calls are answered; undefined: as they should be. */
  fail(status: number | undefined): void;
}

/** Starts it on 127.0.0.1. */
export async function startQueue(): Promise<Queue> {
  let messages: Stored[] = [];
  let failure: number | undefined;
  let count = 0;
  const delays: number[] = [];
  const server = await listenOnLoopback(
    createServer(async (request, response) => {
      const body = await text(request);
      const isSigned = /\/sqs\/aws4_request/.test(request.headers.authorization ?? '');
      if (failure !== undefined) return response.writeHead(failure).end('{"__type":"ServiceUnavailable"}');
      if (!isSigned || request.headers['x-amz-target'] !== 'AmazonSQS.SendMessage')
        return response.writeHead(400).end();
      // The one call that it takes.
      const { MessageBody, DelaySeconds } = JSON.parse(body) as { MessageBody: string; DelaySeconds: number };
      const messageId = `message-${count++}`;
      const visibleAt = Date.now() + 1000 * DelaySeconds;
      delays.push(DelaySeconds);
      messages.push({ messageId, body: MessageBody, eventSource: 'aws:sqs', visibleAt });
      response.end(JSON.stringify({ MessageId: messageId }));
    }),
  );
  return {
    url: `${server.url}/123456789012/webhooks`,
    delays,
    receive() {
      const now = Date.now();
      const due = messages.filter(({ visibleAt }) => visibleAt <= now);
      messages = messages.filter(({ visibleAt }) => visibleAt > now);
      return due.map(({ visibleAt: _, ...message }) => message);
    },
    putBack(back) {
      messages.push(...back.map((message) => ({ ...message, visibleAt: 0 })));
    },
    fail(status) {
      failure = status;
    },
    [Symbol.asyncDispose]: server.close,
  };
}
