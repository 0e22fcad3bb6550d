import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import type { RequestPage, RequestRecord, UpdateRequestBody } from '@prism-gateway/protocol';
import type { RelayerClient } from './relayerClient.ts';

/** How long an answer may take, in milliseconds: longer is as good as none. A loaded machine takes many times as long as an idle one. */
const ANSWER_MS = 60_000;

/** An answer that came in whole. */
export interface Answered {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<IncomingHttpHeaders>;
  readonly text: string;
}

export interface GatewayCall {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Begins with `?`. */
  readonly query?: string;
  readonly json?: unknown;
  /** Signs the call. */
  readonly relayer?: RelayerClient;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Calls gateways over connections that stay open. */
export interface GatewayClient {
  /** @throws Error when no whole answer came */
  call(url: string, call: GatewayCall): Promise<Answered>;
  close(): void;
}

async function readAnswer(incoming: IncomingMessage): Promise<Answered> {
  let text = '';
  incoming.setEncoding('utf8');
  for await (const part of incoming) text += part;
  if (!incoming.complete) throw new Error('the answer ended early');
  // An incoming answer has a status.
  return { status: incoming.statusCode as number, headers: incoming.headers, text };
}

/** Makes a client. */
export function createGatewayClient(connections: number): GatewayClient {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  return {
    call(url, { method, path, query = '', json, relayer, headers }) {
      const body = json === undefined ? '' : JSON.stringify(json);
      const all = {
        ...(body !== '' && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
        ...relayer?.signHeaders({ method, path, body }),
        ...headers,
      };
      return new Promise((resolve, reject) => {
        const outgoing = request(`${url}${path}${query}`, { method, agent, headers: all, timeout: ANSWER_MS });
        outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer within ${ANSWER_MS} ms`)));
        outgoing.on('error', reject);
        outgoing.on('response', (incoming) => readAnswer(incoming).then(resolve, reject));
        outgoing.end(body);
      });
    },
    close: () => agent.destroy(),
  };
}

/** The call that asks a request to be claimed or reported on. */
export function updateCall(requestId: string, json: UpdateRequestBody, relayer: RelayerClient): GatewayCall {
  return { method: 'PATCH', path: `/requests/${requestId}`, json, relayer };
}

function readJson(answer: Answered, status: number): unknown {
  if (answer.status !== status) throw new Error(`${status} was expected, and ${answer.status} came: ${answer.text}`);
  return JSON.parse(answer.text);
}

/** Reads an answer that holds a record. @throws Error for another status */
export function readRecord(answer: Answered, status = 200): RequestRecord {
  // The acceptance suite checks the form; here the gateway is taken at its word.
  return readJson(answer, status) as RequestRecord;
}

/** Reads an answer that holds a page of records. @throws Error for another status */
export function readPage(answer: Answered): RequestPage {
  // As above.
  return readJson(answer, 200) as RequestPage;
}
