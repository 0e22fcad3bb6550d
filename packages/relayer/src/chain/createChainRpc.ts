import { createBackOff } from '@prism-gateway/node';
import {
  type CostModel,
  collectAnswers,
  createCostModel,
  createRpcPool,
  createSimulator,
  parseBytes,
  parseQuantity,
  parseRecord,
  type Revert,
  RpcAnswerError,
  type RpcClient,
  type RpcPool,
  RpcUnavailableError,
  readRevert,
  type Simulator,
  withRetries,
} from '@prism-gateway/node/rpc';
import { numberToHex } from 'viem/utils';
import { ChainError } from './chainError.ts';
import { nameReason } from './decodeReason.ts';

/** Attempts of a call that gets no answer, and the pauses between them in milliseconds. */
const ATTEMPTS = 4;
const FIRST_PAUSE_MS = 150;
const LONGEST_PAUSE_MS = 2000;

/** A method, and its params. */
type ChainCall = readonly [method: string, ...params: readonly unknown[]];

/** Reads the chain; what a node does not say is a ChainError. */
export interface ReadRpc {
  /**
   * Makes a call and reads its result.
   *
   * @param parse - throws what the parsers of `packages/node` throw
   * @throws ChainError `RPC_UNAVAILABLE`, `RPC_ANSWER_INVALID`
   */
  read<T>(call: ChainCall, parse: (result: unknown) => T): Promise<T>;
}

/** Reads the chain, also what may revert. */
export interface CallRpc extends ReadRpc {
  /** Calls a contract, if a revert is an answer as good as any. @throws ChainError `RPC_UNAVAILABLE`, `RPC_ANSWER_INVALID` */
  attempt(call: ChainCall): Promise<{ readonly returned: `0x${string}` } | Revert>;
}

/** Asks a node, patiently. */
export interface ChainRpc extends CallRpc {
  /** Simulates a call of a contract. @throws ChainError `RPC_UNAVAILABLE`, `RPC_ANSWER_INVALID` */
  readonly simulate: Simulator;
  /**
   * Makes a call to each node, once if there are several, and reads their results: for what one of them alone is not believed.
   *
   * @param parse - as in `read`; what it cannot read counts as no answer
   * @returns what those say that answer
   * @throws ChainError if none does
   */
  readEach<T>(call: ChainCall, parse: (result: unknown) => T): Promise<readonly T[]>;
  /** Its nodes, asked without patience. */
  readonly pool: RpcPool;
  /** Finds out how the chain charges. @throws ChainError, as the model's own question does */
  openCosts(): Promise<CostModel>;
}

/** Says of a node's errors what was asked. */
async function wrapErrors<T>(method: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    if (cause instanceof RpcAnswerError) {
      throw new ChainError('RPC_UNAVAILABLE', `The node refused ${method}: ${cause.message}.`, { cause });
    }
    if (!(cause instanceof RpcUnavailableError)) throw cause;
    if (cause.code === 'RPC_ANSWER_INVALID') {
      throw new ChainError('RPC_ANSWER_INVALID', `The node's answer to ${method} cannot be read: ${cause.message}.`, {
        cause,
      });
    }
    throw new ChainError('RPC_UNAVAILABLE', `The node did not answer ${method}: ${cause.message}.`, { cause });
  }
}

/**
 * Makes the way to a node, or to the first of several that answers. Calls that get no answer, or an error of the node itself, are repeated: all of them only ask.
 *
 * @param options.clients - of its nodes; the signal closes them
 * @param options.chainId - of several nodes one of another chain is never asked; default the chain of the first that answers
 * @param options.attempts - of a call that gets no answer; default 4
 * @param options.random - from 0 to 1
 * @param options.onFallback - notified once, when the node turns out not to simulate blocks, and why
 * @param options.signal - ends all waiting: what is asked then has no answer
 */
export function createChainRpc(options: {
  readonly clients: readonly RpcClient[];
  readonly chainId?: number | undefined;
  readonly attempts?: number | undefined;
  readonly now: () => number;
  readonly random: () => number;
  readonly onFallback: (reason: string) => void;
  readonly signal: AbortSignal;
}): ChainRpc {
  const { clients, chainId, attempts = ATTEMPTS, now, random, onFallback, signal } = options;
  const plain = createRpcPool({ clients, chainId });
  if (signal.aborted) plain.close();
  signal.addEventListener('abort', plain.close, { once: true });
  const pauses = { firstMs: FIRST_PAUSE_MS, maxMs: LONGEST_PAUSE_MS, random, signal };
  const client = withRetries(plain, { attempts, createBackOff: () => createBackOff(pauses) });
  const isTooEarly = (returned: `0x${string}` | undefined) => nameReason(returned) === 'RequestNotYetOpen';
  const simulate = createSimulator({ client, now, onFallback, isTooEarly });
  return {
    read: ([method, ...params], parse) => wrapErrors(method, async () => parse(await client.request(method, params))),
    readEach: ([method, ...params], parse) =>
      wrapErrors(method, async () => {
        // A single one is asked patiently: there is no other.
        if (plain.size === 1) return [parse(await client.request(method, params))];
        return (await collectAnswers(plain, { method, params, parse })).map(({ answer }) => answer);
      }),
    attempt: ([method, ...params]) =>
      wrapErrors(method, async () => {
        try {
          return { returned: parseBytes(await client.request(method, params), 'return data') };
        } catch (error) {
          const revert = readRevert(error);
          if (revert === undefined) throw error;
          return revert;
        }
      }),
    async openCosts() {
      const model = await wrapErrors('how it charges', () => createCostModel(client));
      return { ...model, extraCost: (transaction) => wrapErrors('a price', () => model.extraCost(transaction)) };
    },
    pool: plain,
    simulate: (call, block) => wrapErrors('a simulation', () => simulate(call, block)),
  };
}

/**
 * Reads the time of a block.
 *
 * @returns Unix seconds; undefined if the node does not have the block (yet)
 * @throws ChainError
 */
export function readBlockTime(rpc: ReadRpc, block: bigint | 'pending'): Promise<bigint | undefined> {
  const tag = block === 'pending' ? block : numberToHex(block);
  return rpc.read(['eth_getBlockByNumber', tag, false], (answer) =>
    answer === null ? undefined : parseQuantity(parseRecord(answer, 'block').timestamp, 'block time'),
  );
}
