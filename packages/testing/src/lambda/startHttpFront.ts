import { createServer, type IncomingMessage } from 'node:http';
import { type LoopbackServer, listenOnLoopback } from '../listenOnLoopback.ts';
import { httpApiEvent } from './httpApiEvent.ts';
import type { HttpCall } from './httpCall.ts';

interface FrontOptions {
  /** Hands an event to the function. @returns its answer's JSON text */
  readonly invoke: (event: unknown) => Promise<string>;
}

/** What a function answers an HTTP API with. */
interface Result {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly isBase64Encoded: boolean;
}

function* pairsOf(raw: readonly string[]): Generator<readonly [string, string]> {
  for (let at = 0; at + 1 < raw.length; at += 2) yield [raw[at] ?? '', raw[at + 1] ?? ''];
}

async function readCall(incoming: IncomingMessage): Promise<HttpCall> {
  const chunks: Buffer[] = await incoming.toArray();
  return {
    method: incoming.method ?? 'GET',
    target: incoming.url ?? '/',
    headers: [...pairsOf(incoming.rawHeaders)],
    body: Buffer.concat(chunks),
    peerAddress: incoming.socket.remoteAddress ?? '',
  };
}

/**
 * Starts an HTTP server on 127.0.0.1 that turns calls into events of an HTTP API, of its default stage.
 *
 * A function that fails is 500 with API Gateway's own body.
 */
export async function startHttpFront({ invoke }: FrontOptions): Promise<LoopbackServer> {
  const server = createServer(async (incoming, outgoing) => {
    try {
      const call = await readCall(incoming);
      const domainName = incoming.headers.host ?? '';
      // What is no such answer ends up below, as on AWS.
      const result = JSON.parse(
        await invoke(httpApiEvent(call, { stage: '$default', basePath: '', domainName })),
      ) as Result;
      outgoing.writeHead(result.statusCode, result.headers);
      outgoing.end(Buffer.from(result.body, result.isBase64Encoded ? 'base64' : 'utf8'));
    } catch (error) {
      console.error(String(error));
      outgoing.writeHead(500, { 'content-type': 'application/json' }).end('{"message":"Internal Server Error"}');
    }
  });
  return await listenOnLoopback(server);
}
