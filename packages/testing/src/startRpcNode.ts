import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listenOnLoopback } from './listenOnLoopback.ts';
import { type Misbehaviour, misbehave } from './misbehave.ts';
import type { RpcCall } from './rpcFault.ts';

/** A node's reply to one call. */
export type RpcReply =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } };

/** How a node refuses a batch that is too large: one error for all, an HTTP status, or an error in the place of the first answer. */
export type BatchRefusal = 'error' | 'status' | 'entry';

/** How a node behaves; what is not said is as it should be. */
export interface RpcNodeBehaviour {
  /** Default: the method's name as the result. */
  readonly answer?: (call: RpcCall) => RpcReply;
  /** Most calls of a batch; 1 = none. */
  readonly maxBatch?: number;
  readonly refusal?: BatchRefusal;
  /** The fault of a whole exchange. @param n - exchanges so far, this one counted @returns undefined: nothing */
  readonly fail?: (n: number, calls: readonly RpcCall[]) => Misbehaviour | undefined;
  /** Changes the answers on their way out: their order, their ids, anything. */
  readonly twist?: (answers: readonly object[]) => unknown;
}

/** One HTTP exchange that a node has seen. */
export interface RpcExchange {
  readonly calls: readonly RpcCall[];
  readonly isBatch: boolean;
  readonly headers: IncomingHttpHeaders;
}

/** A small node that misbehaves as it is set to. */
export interface RpcNode extends AsyncDisposable {
  readonly url: string;
  readonly exchanges: readonly RpcExchange[];
  behave(behaviour: RpcNodeBehaviour): void;
  stop(): Promise<void>;
}

const BATCH_TOO_LARGE = { code: -32_600, message: 'batch too large' };

function refuseBatch(response: ServerResponse, refusal: BatchRefusal, first: RpcCall | undefined): void {
  if (refusal === 'status') return void response.writeHead(400).end('no batches here');
  const error = { jsonrpc: '2.0', id: refusal === 'error' ? null : first?.id, error: BATCH_TOO_LARGE };
  response.end(JSON.stringify(refusal === 'error' ? error : [error]));
}

/**
 * Starts a small node on 127.0.0.1 that speaks JSON-RPC over HTTP and knows no chain.
 *
 * @param behaviour - how it behaves at first
 * @returns the running node, with what it has seen
 */
export async function startRpcNode(behaviour: RpcNodeBehaviour = {}): Promise<RpcNode> {
  const exchanges: RpcExchange[] = [];
  let current = behaviour;

  function answerAll({ calls, isBatch }: RpcExchange, response: ServerResponse): void {
    const { answer = ({ method }) => ({ result: method }), maxBatch = 1000, refusal = 'error', fail, twist } = current;
    const failure = fail?.(exchanges.length, calls);
    if (failure !== undefined) return void misbehave(response, failure);
    if (isBatch && calls.length > maxBatch) return void refuseBatch(response, refusal, calls[0]);
    const answers = calls.map((call) => ({ jsonrpc: '2.0', id: call.id, ...answer(call) }));
    const said = twist === undefined ? (isBatch ? answers : answers[0]) : twist(answers);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(said));
  }

  const server = await listenOnLoopback(
    createServer(async (request, response) => {
      // Clients under test write JSON-RPC.
      const body = JSON.parse(await text(request)) as RpcCall | readonly RpcCall[];
      const isBatch = 'length' in body;
      const exchange = { calls: isBatch ? body : [body], isBatch, headers: request.headers };
      exchanges.push(exchange);
      answerAll(exchange, response);
    }),
  );
  return {
    url: server.url,
    exchanges,
    behave(next) {
      current = next;
    },
    stop: server.close,
    [Symbol.asyncDispose]: server.close,
  };
}
