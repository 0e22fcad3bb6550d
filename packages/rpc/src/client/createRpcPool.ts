import { RpcAnswerError, RpcUnavailableError } from '../rpcErrors.ts';
import { createRpcClient } from './createRpcClient.ts';
import { isPassing } from './isPassing.ts';
import type { RpcClient } from './rpcClient.ts';

/** How several nodes of one chain are reached. */
export interface RpcPoolOptions {
  /** One or more, the preferred one first. They appear in no error. */
  readonly rpcUrls: readonly string[];
  /** For one exchange, in milliseconds; default 10,000. */
  readonly timeoutMs?: number;
  /** Milliseconds of a clock that is never set; default the machine's. */
  readonly monotonicNow?: () => number;
}

/** How long a node that failed is passed over, in milliseconds. */
const PASSED_OVER_MS = 30_000;
/** What goes to every node: the more of them know a transaction, the sooner a block takes it. */
const BROADCAST = 'eth_sendRawTransaction';

/** Which of several outcomes counts: an answer before an error, and an error of a node before none. */
function chooseOutcome(outcomes: readonly PromiseSettledResult<unknown>[]): unknown {
  const answer = outcomes.find((outcome) => outcome.status === 'fulfilled');
  if (answer !== undefined) return answer.value;
  const errors = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => reason as unknown);
  throw errors.find((error) => error instanceof RpcAnswerError) ?? errors[0];
}

/**
 * Makes JSON-RPC calls to the first of several nodes that answers. A node without an answer, or with an error of its own, is passed over
 * for half a minute, unless none is left. A signed transaction goes to all of them. A revert is an answer as good as any. Whether nodes
 * agree is for the caller to ask, by a client of each.
 *
 * @param options - the nodes' URLs
 * @returns a client, as that of one node
 * @see docs/specification.md NODE-1
 */
export function createRpcPool(options: RpcPoolOptions): RpcClient {
  const { rpcUrls, monotonicNow = () => performance.now(), ...rest } = options;
  const nodes = rpcUrls.map((rpcUrl) => ({ client: createRpcClient({ rpcUrl, monotonicNow, ...rest }), untilMs: 0 }));

  /** The well ones in their order, then the others, whose turn comes soonest first. */
  function orderNodes() {
    const now = monotonicNow();
    const isWell = ({ untilMs }: { readonly untilMs: number }) => untilMs <= now;
    const failed = nodes.filter((node) => !isWell(node)).toSorted((one, other) => one.untilMs - other.untilMs);
    return [...nodes.filter(isWell), ...failed];
  }

  async function ask(method: string, params: readonly unknown[]): Promise<unknown> {
    let last: unknown = new RpcUnavailableError('there is no node');
    for (const node of orderNodes()) {
      try {
        const answer = await node.client.request(method, params);
        node.untilMs = 0;
        return answer;
      } catch (error) {
        last = error;
        if (!isPassing(error)) throw error;
        node.untilMs = monotonicNow() + PASSED_OVER_MS;
      }
    }
    throw last;
  }

  return {
    request: async (method, params) =>
      method === BROADCAST
        ? chooseOutcome(await Promise.allSettled(nodes.map(({ client }) => client.request(method, params))))
        : ask(method, params),
    close() {
      for (const { client } of nodes) client.close();
    },
  };
}
