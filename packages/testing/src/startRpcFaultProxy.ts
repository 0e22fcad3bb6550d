import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { listenOnLoopback } from './listenOnLoopback.ts';
import { type AskNode, answerLate, type RpcCall, type RpcFault } from './rpcFault.ts';

/**
 * Says what befalls a call.
 *
 * @param method - like `eth_sendRawTransaction`
 * @param n - how many calls of this method there have been, this one counted: from 1
 * @param params - of the call
 */
export type RpcFaultPlan = (method: string, n: number, params: readonly unknown[]) => RpcFault | undefined;

/** A proxy before a node. */
export interface RpcFaultProxy extends AsyncDisposable {
  /** Its own address. */
  readonly url: string;
  /** How often each method was called; each call of a batch counts. */
  readonly counts: ReadonlyMap<string, number>;
  /** Calls in all. */
  total(): number;
  /** From now on this befalls calls; counting goes on. */
  setPlan(plan: RpcFaultPlan): void;
  stop(): Promise<void>;
}

interface Answer {
  readonly jsonrpc: '2.0';
  readonly id: number | string;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** A call with what befalls it. */
interface Fated {
  readonly call: RpcCall;
  readonly fault: RpcFault | undefined;
}

/** Faults that leave nothing for the node to do, on the whole line. */
const BEFORE: readonly RpcFault['kind'][] = ['dropBefore', 'stallBefore', 'rateLimit', 'serverError'];

async function forward(target: string, calls: readonly RpcCall[]): Promise<readonly Answer[]> {
  if (calls.length === 0) return [];
  const response = await fetch(target, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(calls),
  });
  // The node behind the proxy is sane, and answers a batch with a batch.
  return (await response.json()) as readonly Answer[];
}

function createAsk(target: string): AskNode {
  return async (method, params) => {
    const [answer] = await forward(target, [{ jsonrpc: '2.0', id: 0, method, params }]);
    if (answer?.error !== undefined) throw new Error(answer.error.message);
    return answer?.result;
  };
}

async function answerOne({ call, fault }: Fated, real: Answer | undefined, ask: AskNode): Promise<Answer> {
  const { id } = call;
  if (fault?.kind === 'answer') return { jsonrpc: '2.0', id, result: fault.result };
  if (fault?.kind === 'error') {
    const { code, message, data } = fault;
    return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } };
  }
  if (fault?.kind === 'lag')
    return { jsonrpc: '2.0', id, result: await answerLate(call, { blocks: fault.blocks, ask }) };
  if (real === undefined) throw new Error('the node left a call unanswered');
  if (fault?.kind === 'change' && real.error === undefined) return { ...real, result: fault.change(real.result) };
  if (fault?.kind === 'wrongId') return { ...real, id: 987_654_321 };
  return real;
}

/** Lets the line fail before the node hears of the call. @returns whether that was all */
function failBefore(faults: readonly RpcFault[], response: ServerResponse): boolean {
  const fault = faults.find(({ kind }) => BEFORE.includes(kind));
  if (fault === undefined) return false;
  if (fault.kind === 'dropBefore') response.destroy();
  if (fault.kind === 'serverError') response.writeHead(500).end('a fault made on purpose');
  if (fault.kind === 'rateLimit') {
    const { retryAfterSeconds } = fault;
    response.writeHead(429, retryAfterSeconds === undefined ? {} : { 'retry-after': `${retryAfterSeconds}` }).end();
  }
  return true;
}

/** Lets the line fail after the node has done its work. @returns whether that was all */
function failAfter(faults: readonly RpcFault[], response: ServerResponse): boolean {
  const kinds = faults.map(({ kind }) => kind);
  if (kinds.includes('dropAfter')) response.destroy();
  else if (kinds.includes('serverErrorAfter')) response.writeHead(500).end('a fault made on purpose');
  else if (kinds.includes('garbage')) response.writeHead(200).end('<html>a fault made on purpose');
  else return kinds.includes('stallAfter');
  return true;
}

/** Has the node do what it shall do. */
async function answerAll(fated: readonly Fated[], target: string): Promise<readonly Answer[]> {
  const passed = fated.filter(({ fault }) => !['answer', 'error', 'lag'].includes(fault?.kind ?? ''));
  const real = await forward(
    target,
    passed.map(({ call }) => call),
  );
  const ask = createAsk(target);
  return await Promise.all(
    fated.map((one) =>
      answerOne(
        one,
        real.find(({ id }) => id === one.call.id),
        ask,
      ),
    ),
  );
}

/**
 * Starts a proxy on 127.0.0.1 before a node's JSON-RPC over HTTP, single calls and batches; calls pass, or what the plan says befalls them.
 *
 * @param options - the node's URL, and the plan; without one, all calls pass and are counted
 * @returns the running proxy
 */
export async function startRpcFaultProxy(options: {
  readonly target: string;
  readonly plan?: RpcFaultPlan;
}): Promise<RpcFaultProxy> {
  const counts = new Map<string, number>();
  let plan: RpcFaultPlan = options.plan ?? (() => undefined);

  function fate(call: RpcCall): Fated {
    const n = (counts.get(call.method) ?? 0) + 1;
    counts.set(call.method, n);
    return { call, fault: plan(call.method, n, call.params ?? []) };
  }

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    // Clients under test write JSON-RPC.
    const body = JSON.parse(await text(incoming)) as RpcCall | readonly RpcCall[];
    const fated = ('length' in body ? body : [body]).map(fate);
    const faults = fated.flatMap(({ fault }) => (fault === undefined ? [] : [fault]));
    if (failBefore(faults, response)) return;
    const answers = await answerAll(fated, options.target);
    for (const fault of faults) if (fault.kind === 'delay') await pause(fault.ms);
    if (failAfter(faults, response)) return;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify('length' in body ? answers : answers[0]));
  }

  const server = await listenOnLoopback(
    createServer((incoming, response) => {
      handle(incoming, response).catch(() => response.destroy());
    }),
  );
  return {
    url: server.url,
    counts,
    total: () => [...counts.values()].reduce((sum, count) => sum + count, 0),
    setPlan(next) {
      plan = next;
    },
    stop: server.close,
    [Symbol.asyncDispose]: server.close,
  };
}
