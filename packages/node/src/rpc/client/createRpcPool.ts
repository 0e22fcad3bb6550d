import { RpcAnswerError, RpcUnavailableError } from '../rpcErrors.ts';
import { askEach, type NodeAnswer } from './askEach.ts';
import { askInTurn } from './askInTurn.ts';
import { compareHeads } from './compareHeads.ts';
import type { RpcClient } from './createRpcClient.ts';
import { isPassing } from './withRetries.ts';

/** How several nodes of one chain are reached. */
export interface RpcPoolOptions {
  /** Of one or more, the preferred one first. What is asked in one turn of the event loop by whomever shares a client shares a request. */
  readonly clients: readonly RpcClient[];
  /** Nodes of another chain are never asked; default the chain of the first that answers. */
  readonly chainId?: number | undefined;
  /** Milliseconds of a clock that is never set; default the machine's. */
  readonly monotonicNow?: () => number;
  /** Milliseconds since the epoch; default the machine's. */
  readonly now?: () => number;
}

/** How long a node that failed, or has fallen behind, is passed over, in milliseconds. */
const PASSED_OVER_MS = 30_000;
/** How long a node may be silent before the next one is asked as well, in milliseconds. */
const TIMEOUT_MS = 2000;
/** How many blocks a node may be behind another: a block takes a moment from one to the other. */
const MAX_LAG_BLOCKS = 2n;
/** How often the newest blocks of all nodes are compared, in milliseconds, and by how many blocks a node must be ahead to have it done at once. */
const COMPARE_MS = 30_000;
const LEAP_BLOCKS = 8n;
/** How long a node that lies, or has made its newest block up, is passed over, in milliseconds: until they have been compared again. */
const DEPRIORITIZED_MS = 2 * COMPARE_MS;
/** The call that goes to every node: the more of them know a transaction, the sooner a block takes it. */
const BROADCAST = 'eth_sendRawTransaction';

interface PooledNode {
  readonly client: RpcClient;
  /** Until when it is passed over. */
  untilMs: number;
  /** Until when that is so whatever it answers: others have said that it lies. */
  liesUntilMs: number;
  /** The chain id that it gives, as a text; undefined while it has not answered. */
  chainId: Promise<string> | undefined;
  /** It has made its newest block up. */
  isDeprioritized: boolean;
}

/** Which of several failures counts: an error of a node before no answer. */
function chooseError(errors: readonly unknown[]): unknown {
  return errors.find((error) => error instanceof RpcAnswerError) ?? errors[0];
}

/** The number of the newest block, if a call has asked for it. */
function readHead(method: string, params: readonly unknown[], answer: unknown): bigint | undefined {
  const isBlock = method === 'eth_getBlockByNumber' && params[0] === 'latest';
  const number: unknown = isBlock ? Object(answer).number : method === 'eth_blockNumber' ? answer : undefined;
  return typeof number === 'string' && /^0x[0-9a-f]{1,16}$/i.test(number) ? BigInt(number) : undefined;
}

/** Asks a node once what its chain is. A failure is kept for nobody, nor is another chain than that of the others. */
function readChainId(node: PooledNode): Promise<string> {
  node.chainId ??= node.client
    .request('eth_chainId', [])
    .then((answer) =>
      typeof answer === 'string' && /^0x[0-9a-f]{1,16}$/i.test(answer) ? `${BigInt(answer)}` : `${answer}`,
    )
    .catch((error: unknown) => {
      node.chainId = undefined;
      throw error;
    });
  return node.chainId;
}

/**
 * Makes JSON-RPC calls to the first of several nodes that answers. A node without an answer, with an error of its own, or whose newest
 * block is behind another node's, is passed over for half a minute, unless none is left; one that has made its newest block up, for a
 * minute. One that is silent for two seconds has the next one asked beside it. A node of another chain is never asked. A signed transaction goes to all of them, and one that
 * takes it is enough. A revert is an answer as good as any. Whether nodes agree is for the caller to ask, by a client of each.
 *
 * @returns a client, as that of one node, and a way to report a lie of it
 * @see docs/specification.md NODE-1
 */
export function createRpcPool(options: RpcPoolOptions): RpcPool {
  const { clients, chainId, monotonicNow = () => performance.now(), now = Date.now } = options;
  const [only, ...others] = clients;
  if (only !== undefined && others.length === 0) return createSinglePool(only);
  const nodes = clients.map(
    (client): PooledNode => ({
      client,
      untilMs: 0,
      liesUntilMs: 0,
      chainId: undefined,
      isDeprioritized: false,
    }),
  );
  let chain = chainId === undefined ? undefined : String(chainId);
  let highest = 0n;
  let comparing: Promise<void> | undefined;
  let comparedAtMs = Number.NEGATIVE_INFINITY;

  const isWell = ({ untilMs }: PooledNode) => untilMs <= monotonicNow();

  /** The well ones in their order, then the others, whose turn comes soonest first. */
  function orderNodes(): readonly PooledNode[] {
    const failed = nodes.filter((node) => !isWell(node)).toSorted((one, other) => one.untilMs - other.untilMs);
    return [...nodes.filter(isWell), ...failed];
  }

  const passOver = (node: PooledNode, ms = PASSED_OVER_MS) => {
    node.untilMs = monotonicNow() + ms;
  };

  async function compare(): Promise<void> {
    const clients = nodes.map((node) => ({
      request: (method: string, params: readonly unknown[]) => askNode(node, method, params),
    }));
    const heads = await compareHeads(clients, BigInt(Math.floor(now() / 1000)));
    const believed = heads.flatMap(({ head, isMadeUp }) => (head === undefined || isMadeUp ? [] : [head.number]));
    const [best] = believed.toSorted((one, other) => (one < other ? 1 : -1));
    // A higher block reported before was made up.
    highest = best ?? highest;
    for (const [index, node] of nodes.entries()) {
      node.isDeprioritized = heads[index]?.isMadeUp ?? false;
      if (node.isDeprioritized) passOver(node, DEPRIORITIZED_MS);
    }
  }

  /** Compares the newest blocks of all nodes when it is time, or one of them is suddenly far ahead. */
  async function compareInTime(head: bigint): Promise<void> {
    if (head <= highest + LEAP_BLOCKS && monotonicNow() - comparedAtMs < COMPARE_MS) return;
    comparing ??= compare().finally(() => {
      comparedAtMs = monotonicNow();
      comparing = undefined;
    });
    await comparing;
  }

  /** @throws RpcUnavailableError if it is a node of another chain */
  async function askNode(node: PooledNode, method: string, params: readonly unknown[]): Promise<unknown> {
    const own = await readChainId(node);
    chain ??= own;
    if (own !== chain) {
      // It is asked again: a proxy may have led to another node's for a moment.
      node.chainId = undefined;
      throw new RpcUnavailableError('the node is of another chain');
    }
    return await node.client.request(method, params);
  }

  async function ask(method: string, params: readonly unknown[]): Promise<unknown> {
    let last: unknown = new RpcUnavailableError('there is no node');
    const late: { readonly node: PooledNode; readonly answer: unknown; readonly head: bigint }[] = [];

    /** @returns undefined of a node that is not believed, or is behind */
    async function readAnswer(node: PooledNode): Promise<{ readonly answer: unknown } | undefined> {
      const answer = await askNode(node, method, params);
      const head = readHead(method, params, answer);
      if (head !== undefined) await compareInTime(head);
      if (head !== undefined && node.isDeprioritized) {
        last = new RpcUnavailableError('the node has made its newest block up');
        return undefined;
      }
      if (head !== undefined && head + MAX_LAG_BLOCKS < highest) {
        late.push({ node, answer, head });
        return undefined;
      }
      if (head !== undefined && head > highest) highest = head;
      node.untilMs = node.liesUntilMs;
      // Somebody is further: those who are not are left alone for a while.
      for (const behind of late) passOver(behind.node);
      return { answer };
    }

    async function tryNode(node: PooledNode): Promise<{ readonly answer: unknown } | undefined> {
      try {
        return await readAnswer(node);
      } catch (error) {
        last = error;
        if (!isPassing(error)) throw error;
        passOver(node);
        return undefined;
      }
    }

    const found = await askInTurn(orderNodes(), { ask: tryNode, timeoutMs: TIMEOUT_MS, onSilent: passOver });
    if (found !== undefined) return found.answer;
    const [best] = late.toSorted((one, other) => (one.head < other.head ? 1 : -1));
    if (best === undefined) throw last;
    // All say so: blocks were taken back, or the one that was ahead has made them up.
    highest = best.head;
    return best.answer;
  }

  async function broadcast(params: readonly unknown[]): Promise<unknown> {
    try {
      // Who is silent, or refuses what another one takes, holds nobody up.
      return await Promise.any(nodes.map((node) => askNode(node, BROADCAST, params)));
    } catch (error) {
      throw chooseError(error instanceof AggregateError ? error.errors : [error]);
    }
  }

  return {
    size: nodes.length,
    askEach: (method, params, timeoutMs = TIMEOUT_MS) =>
      askEach(nodes, { ask: (node) => askNode(node, method, params), isWell, timeoutMs, onSilent: passOver }),
    deprioritize(place) {
      const node = nodes[place];
      if (node === undefined) return;
      node.liesUntilMs = monotonicNow() + DEPRIORITIZED_MS;
      node.untilMs = node.liesUntilMs;
    },
    request: (method, params) => (method === BROADCAST ? broadcast(params) : ask(method, params)),
    close() {
      for (const { client } of nodes) client.close();
    },
  };
}

/** Several nodes, called as one. Its `close` closes their clients. */
export interface RpcPool extends RpcClient {
  /** How many nodes there are. */
  readonly size: number;
  /**
   * Asks each node for itself: for what one of them alone is not believed.
   *
   * @param timeoutMs - how long the others are waited for once one has answered; default 2000
   * @returns what those have answered that did so in time, in the order of the URLs
   * @throws RpcAnswerError, RpcUnavailableError if none does
   */
  askEach(method: string, params: readonly unknown[], timeoutMs?: number): Promise<readonly NodeAnswer<unknown>[]>;
  /** Has a node asked only if no other answers, for a minute: others have said that it lies. @param node - its place among the URLs, from 0 */
  deprioritize(node: number): void;
}

/** Makes a pool of one node: nobody takes its place, whatever it says. */
function createSinglePool(client: RpcClient): RpcPool {
  return {
    ...client,
    size: 1,
    askEach: async (method, params) => [{ node: 0, answer: await client.request(method, params) }],
    deprioritize: () => undefined,
  };
}

/** A question to each node, and how its answers are read. */
interface EachQuestion<T> {
  readonly method: string;
  readonly params: readonly unknown[];
  /** @throws RpcUnavailableError if the answer is nonsense */
  readonly parse: (answer: unknown) => T;
  /** How long the others are waited for once one has answered, in milliseconds; default the pool's. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Asks each node the same, and reads what they answer; nonsense counts as no answer.
 *
 * @returns what each says that can be read
 * @throws RpcAnswerError, RpcUnavailableError if that is none
 */
export async function collectAnswers<T>(
  pool: Pick<RpcPool, 'askEach'>,
  { method, params, parse, timeoutMs }: EachQuestion<T>,
): Promise<readonly NodeAnswer<T>[]> {
  const answers: NodeAnswer<T>[] = [];
  let fault: unknown;
  for (const { node, answer } of await pool.askEach(method, params, timeoutMs)) {
    try {
      answers.push({ node, answer: parse(answer) });
    } catch (error) {
      if (!(error instanceof RpcUnavailableError || error instanceof RpcAnswerError)) throw error;
      fault ??= error;
    }
  }
  if (answers.length === 0) throw fault;
  return answers;
}
