import type { Hex } from 'viem';
import { ChainError } from './chainError.ts';
import { type AnsweredCall, postBatch } from './postBatch.ts';

/** Most calls that go in one HTTP request. */
const BATCH_SIZE = 50;
/** Attempts of a call that gets no answer, and the longest pause before the second one in milliseconds; it doubles. */
const ATTEMPTS = 4;
const RETRY_DELAY_MS = 150;

/** What came of a call: its result, or that the contract reverted, with what it returned. */
export type RpcOutcome = { readonly result: unknown } | { readonly reverted: Hex | undefined };

/** Makes JSON-RPC calls; those of one tick go together. */
export interface Rpc {
  /** @throws ChainError `RPC_UNAVAILABLE`, `METHOD_UNSUPPORTED` */
  call(method: string, params: readonly unknown[]): Promise<unknown>;
  /** Like `call`, where a revert is an answer as good as any. */
  attempt(method: string, params: readonly unknown[]): Promise<RpcOutcome>;
}

interface WaitingCall {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly answer: (answer: AnsweredCall) => void;
}

/** Error code of a revert, as geth has it since 1.9.15 and others since. */
const REVERTED = 3;

/** Error code of JSON-RPC 2.0 for a method that does not exist. */
const UNSUPPORTED = -32_601;

const isHex = (value: unknown): value is Hex => typeof value === 'string' && /^0x[0-9a-fA-F]*$/.test(value);

/** Whether the node's error says that the call reverted; an error of the node itself is no word of the contract. */
function readRevert({
  code,
  message,
  data,
}: Extract<AnsweredCall, { kind: 'error' }>): { reverted: Hex | undefined } | undefined {
  // Nodes without code 3 say it in words alone.
  if (code !== REVERTED && !/revert/i.test(message)) return undefined;
  return { reverted: isHex(data) ? data : undefined };
}

/** Gathers the calls of one tick, and posts them. */
function createBatcher(rpcUrl: string, signal: AbortSignal | undefined) {
  let waiting: WaitingCall[] = [];
  async function post(calls: readonly WaitingCall[]): Promise<void> {
    const answers = await postBatch({ rpcUrl, signal }, calls);
    for (const [index, call] of calls.entries()) call.answer(answers[index] ?? { kind: 'none' });
  }
  function flush(): void {
    const calls = waiting;
    waiting = [];
    // It never rejects.
    for (let next = 0; next < calls.length; next += BATCH_SIZE) void post(calls.slice(next, next + BATCH_SIZE));
  }
  return function ask(method: string, params: readonly unknown[]): Promise<AnsweredCall> {
    return new Promise((answer) => {
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({ method, params, answer });
    });
  };
}

/**
 * Makes the way to a node. Calls that get no answer, or an error of the node itself, are repeated: all of them only ask.
 *
 * @param options.rpcUrl - it appears in no error
 * @param options.wait - pauses for some milliseconds
 * @param options.signal - ends all waiting: what is asked then has no answer
 */
export function createRpc(options: {
  readonly rpcUrl: string;
  readonly wait: (ms: number) => Promise<void>;
  readonly random: () => number;
  readonly signal?: AbortSignal;
}): Rpc {
  const ask = createBatcher(options.rpcUrl, options.signal);
  async function attempt(method: string, params: readonly unknown[]): Promise<RpcOutcome> {
    for (let attempts = 1; ; attempts += 1) {
      const answer = await ask(method, params);
      if (answer.kind === 'result') return { result: answer.result };
      const revert = answer.kind === 'error' ? readRevert(answer) : undefined;
      if (revert !== undefined) return revert;
      if (answer.kind === 'error' && answer.code === UNSUPPORTED) {
        throw new ChainError('METHOD_UNSUPPORTED', `The node does not know ${method}.`);
      }
      if (attempts >= ATTEMPTS || options.signal?.aborted) {
        throw new ChainError('RPC_UNAVAILABLE', `The node did not answer ${method}.`);
      }
      await options.wait(RETRY_DELAY_MS * 2 ** (attempts - 1) * (0.5 + options.random() / 2));
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
