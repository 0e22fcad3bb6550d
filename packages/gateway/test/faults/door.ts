import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { type HttpCall, httpApiEvent, type RunningFunction } from '@prism-gateway/testing';
import { sendToFunction } from '../lambda/sendToFunction.ts';
import type { GatewayCall } from '../rigs/gatewayClient.ts';

/** An answer of a gateway that came in whole. */
export interface DoorAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<IncomingHttpHeaders>;
  readonly text: string;
}

/** A way into a gateway: a server's socket, or the function's handler. */
export interface Door {
  /** @throws Error when no whole answer came */
  send(call: GatewayCall): Promise<DoorAnswer>;
  close(): void;
}

/** How long an answer may take before a client gives up, in milliseconds. */
const PATIENCE_MS = 29_000;

function writeCall({ json, method, path, relayer, headers }: GatewayCall) {
  const body = json === undefined ? '' : JSON.stringify(json);
  const length = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
  return {
    body,
    headers: { ...(body !== '' && length), ...relayer?.signHeaders({ method, path, body }), ...headers },
  };
}

/** Opens the door of a server. */
export function openServerDoor(url: string, connections: number): Door {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  return {
    async send(call) {
      const { body, headers } = writeCall(call);
      const answered = Promise.withResolvers<DoorAnswer>();
      const target = `${url}${call.path}${call.query ?? ''}`;
      const outgoing = request(target, { method: call.method, agent, headers, timeout: PATIENCE_MS });
      outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer within ${PATIENCE_MS} ms`)));
      outgoing.on('error', answered.reject);
      outgoing.on('response', (incoming) => {
        // An incoming answer has a status.
        const status = incoming.statusCode as number;
        text(incoming).then(
          (body) => answered.resolve({ status, headers: incoming.headers, text: body }),
          answered.reject,
        );
      });
      outgoing.end(body);
      return await answered.promise;
    },
    close: () => agent.destroy(),
  };
}

const DEPLOYMENT = { stage: '$default', basePath: '', domainName: 'gateway.example.org' };

/** Opens the door of a running function: each call becomes the event that an HTTP API makes of it. */
export function openFunctionDoor(running: RunningFunction): Door {
  return {
    async send(call) {
      const { body, headers } = writeCall(call);
      const http: HttpCall = {
        method: call.method,
        target: `${call.path}${call.query ?? ''}`,
        headers: [['host', DEPLOYMENT.domainName], ...Object.entries(headers)],
        body: new TextEncoder().encode(body),
        peerAddress: '127.0.0.1',
      };
      const answer = await sendToFunction(running, http, httpApiEvent(http, DEPLOYMENT), PATIENCE_MS);
      return { status: answer.status, headers: answer.headers, text: Buffer.from(answer.body, 'latin1').toString() };
    },
    close: () => undefined,
  };
}
