import { type Hex, http } from 'viem';
import { ChainError } from './chainError.ts';

/** Most calls that go in one HTTP request. */
const BATCH_SIZE = 50;
/** How long a node may take for one HTTP request, in milliseconds. */
const TIMEOUT_MS = 10_000;
/** Repeats of a call that failed, and the pause before the first one in milliseconds; it doubles. */
const RETRIES = 3;
const RETRY_DELAY_MS = 150;

/** What came of a call: its result, or that the contract reverted, with what it returned. */
export type RpcOutcome = { readonly result: unknown } | { readonly reverted: Hex | undefined };

/** Makes JSON-RPC calls; those of one tick go together. */
export interface Rpc {
  /** @throws ChainError `RPC_UNAVAILABLE` */
  call(method: string, params: readonly unknown[]): Promise<unknown>;
  /** Like `call`, where a revert is an answer as good as any. */
  attempt(method: string, params: readonly unknown[]): Promise<RpcOutcome>;
}

interface Fault {
  readonly code?: unknown;
  readonly data?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
}

/** Error code of a revert, as geth has it since 1.9.15 and others since. */
const REVERTED = 3;
/** Deepest chain of causes that is looked through. */
const MAX_CAUSES = 8;

const isHex = (value: unknown): value is Hex => typeof value === 'string' && /^0x[0-9a-fA-F]*$/.test(value);

/** Looks in an error and its causes for the node's word that the call reverted. */
function readRevert(error: unknown): { readonly reverted: Hex | undefined } | undefined {
  let fault = error as Fault | undefined;
  for (let depth = 0; depth < MAX_CAUSES && typeof fault === 'object' && fault !== null; depth += 1) {
    const { code, data, message } = fault;
    if (isHex(data)) return { reverted: data };
    if (code === REVERTED) return { reverted: undefined };
    // Nodes without code 3 say it in words alone.
    if (code !== undefined && typeof message === 'string' && /execution reverted/i.test(message)) {
      return { reverted: undefined };
    }
    fault = fault.cause as Fault | undefined;
  }
  return undefined;
}

/**
 * Makes the way to a node, with repeats of calls that failed.
 *
 * @param rpcUrl - it appears in no error
 */
export function createRpc(rpcUrl: string): Rpc {
  const batch = { batchSize: BATCH_SIZE, wait: 0 };
  const options = { batch, timeout: TIMEOUT_MS, retryCount: RETRIES, retryDelay: RETRY_DELAY_MS };
  const transport = http(rpcUrl, options)({});
  async function attempt(method: string, params: readonly unknown[]): Promise<RpcOutcome> {
    try {
      return { result: (await transport.request({ method, params })) as unknown };
    } catch (error) {
      const revert = readRevert(error);
      if (revert !== undefined) return revert;
      // Not as the cause: viem's errors hold the URL.
      throw new ChainError('RPC_UNAVAILABLE', `The node did not answer ${method}.`);
    }
  }
  return {
    attempt,
    async call(method, params) {
      const outcome = await attempt(method, params);
      if ('result' in outcome) return outcome.result;
      throw new ChainError('RPC_UNAVAILABLE', `The node answered ${method} with a revert.`);
    },
  };
}
