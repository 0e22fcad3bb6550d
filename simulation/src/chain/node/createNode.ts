import type { Hash } from 'viem';
import type { ChainNode, NodeFaults } from '../chain.ts';
import { RpcFailure } from '../RpcFailure.ts';
import type { BlockRecord, SignedTransaction } from '../records.ts';
import type { Method, NodePorts, NodeView, Params } from './ports.ts';

const HEALTHY: NodeFaults = {
  lagBlocks: 0,
  lagSeconds: 0,
  isHeadStuck: false,
  isStalled: false,
  rateLimit: 'none',
  poolView: 'all',
  broadcast: 'forward',
  withholdsLog: undefined,
  maxLogBlocks: Number.POSITIVE_INFINITY,
  stateDepth: Number.POSITIVE_INFINITY,
  unknownMethods: new Set(),
  lie: undefined,
};
/** Most calls of a batch, as geth has it. */
const MAX_BATCH = 1000;
/** Methods whose answers cost a run of the EVM, and depend on nothing but the block: nodes share them. */
const REMEMBERED: ReadonlySet<string> = new Set(['eth_call', 'eth_estimateGas', 'eth_simulateV1']);
/** Answers that are kept; when there are more, the oldest go. */
const MAX_KEPT = 4096;

type Dispatch = (view: NodeView, method: string, params: Params) => unknown;

/** Makes what answers calls for all nodes of a chain. */
export function createDispatch(methods: ReadonlyMap<string, Method>): Dispatch {
  const kept = new Map<string, Promise<unknown>>();

  function remember(view: NodeView, { method, params, run }: { method: string; params: Params; run: Method }): unknown {
    const text = JSON.stringify(params);
    // The pending block has the time of day, and what lies apart from the newest block depends on the node's branch.
    if (text.includes('"pending"') || view.faults.stateDepth !== Number.POSITIVE_INFINITY) return run(view, params);
    const key = `${view.head.hash}${method}${text}`;
    const before = kept.get(key);
    if (before !== undefined) return before;
    if (kept.size >= MAX_KEPT) {
      const [oldest] = kept.keys();
      if (oldest !== undefined) kept.delete(oldest);
    }
    const answer = Promise.resolve(run(view, params));
    kept.set(key, answer);
    return answer;
  }

  return (view, method, params) => {
    const run = methods.get(method);
    if (run === undefined || view.faults.unknownMethods.has(method)) {
      throw new RpcFailure(-32_601, `the method ${method} does not exist/is not available`);
    }
    return REMEMBERED.has(method) ? remember(view, { method, params, run }) : run(view, params);
  };
}

/**
 * Makes a node of the chain, without faults.
 *
 * @param dispatch - shared by all nodes of the chain
 */
export function createNode(
  { name }: { readonly name: string },
  { branches, nowSeconds }: Pick<NodePorts, 'branches' | 'nowSeconds'>,
  dispatch: Dispatch,
): ChainNode {
  let stuckAt: BlockRecord | undefined;
  const own = new Map<Hash, SignedTransaction>();
  const faults: NodeFaults = {
    ...HEALTHY,
    get isHeadStuck() {
      return stuckAt !== undefined;
    },
    set isHeadStuck(isStuck) {
      stuckAt = isStuck ? (stuckAt ?? laggingHead()) : undefined;
    },
  };

  function laggingHead(): BlockRecord {
    const head = branches.head();
    const late = faults.lagSeconds > 0 ? branches.headAt(nowSeconds() - faults.lagSeconds) : head;
    if (faults.lagBlocks === 0) return late;
    const behind = branches.blockAt(head, Math.max(0, head.number - faults.lagBlocks)) ?? head;
    return behind.number < late.number ? behind : late;
  }

  const headOf = () => stuckAt ?? laggingHead();

  async function request(method: string, params: Params = []): Promise<unknown> {
    if (faults.rateLimit === 'json') throw new RpcFailure(-32_005, 'rate limit exceeded');
    const { lie } = faults;
    const result = await dispatch({ head: headOf(), faults, name, own }, method, params);
    return lie === undefined ? result : lie({ method, params }, result);
  }

  async function answer(call: unknown): Promise<object | undefined> {
    const { id, method, params } = Object(call) as Record<string, unknown>;
    if (typeof method !== 'string') {
      return { jsonrpc: '2.0', id: id ?? null, error: { code: -32_600, message: 'invalid request' } };
    }
    try {
      const result = await request(method, Array.isArray(params) ? params : []);
      return id === undefined ? undefined : { jsonrpc: '2.0', id, result };
    } catch (error) {
      return id === undefined ? undefined : { jsonrpc: '2.0', id, error: describeError(error) };
    }
  }

  async function handle(body: unknown): Promise<unknown> {
    const calls = typeof body === 'string' ? parse(body) : body;
    if (calls === undefined) return { jsonrpc: '2.0', id: null, error: { code: -32_700, message: 'parse error' } };
    if (!Array.isArray(calls)) return await answer(calls);
    if (calls.length === 0 || calls.length > MAX_BATCH) {
      const message = calls.length === 0 ? 'empty batch' : 'batch too large';
      return { jsonrpc: '2.0', id: null, error: { code: -32_600, message } };
    }
    const answers = await Promise.all(calls.map(answer));
    return answers.filter((each) => each !== undefined);
  }

  return {
    name,
    faults,
    heal() {
      Object.assign(faults, HEALTHY);
      const kept = [...own.values()];
      own.clear();
      // Nobody else may want it any more.
      for (const { raw } of kept) void request('eth_sendRawTransaction', [raw]).catch(() => undefined);
    },
    headNumber: () => headOf().number,
    request,
    handle,
    handleText: async (body) => JSON.stringify((await handle(body)) ?? ''),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Describes an error that is no node's as a fault of the simulation, so that it is seen as one. @throws unknown */
function describeError(error: unknown): object {
  if (!(error instanceof RpcFailure)) throw error;
  const { code, message, data } = error;
  return { code, message, ...(data !== undefined && { data }) };
}
