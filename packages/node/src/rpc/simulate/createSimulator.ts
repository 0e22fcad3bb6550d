import { type Hex, zeroAddress } from 'viem';
import { numberToHex } from 'viem/utils';
import { parseArray, parseBytes, parseQuantity, parseRecord } from '../answers/parseAnswers.ts';
import { type Revert, readRevert } from '../answers/readRevert.ts';
import type { RpcClient } from '../client/createRpcClient.ts';
import { isRefusedRequest, RpcAnswerError, RpcUnavailableError } from '../rpcErrors.ts';

/** The gas and return data of a simulated transaction, or what it would revert with. */
export type Simulated = { readonly gas: bigint; readonly returned: Hex } | Revert;

/** A call to simulate. */
export interface SimulatedCall {
  readonly from: Hex;
  readonly to: Hex;
  readonly data: Hex;
  /** With a gas limit and fees the very transaction is simulated: the sender has to be able to pay for it. */
  readonly terms?: {
    readonly gasLimit: bigint;
    /** In wei. */
    readonly maxFeePerGas: bigint;
    /** In wei. */
    readonly maxPriorityFeePerGas: bigint;
  };
}

/** The block that a call is simulated in, as far as it is known: a contract can ask for all of it. */
export interface SimulatedBlock {
  /** Unix time that it is expected to have. */
  readonly seconds: bigint;
  readonly number?: bigint;
  /** In wei. */
  readonly baseFeePerGas?: bigint;
  readonly feeRecipient?: Hex;
  readonly prevRandao?: Hex;
}

/**
 * Simulates a call after the newest block.
 *
 * @throws RpcAnswerError, RpcUnavailableError
 */
export type Simulator = (call: SimulatedCall, block: SimulatedBlock) => Promise<Simulated>;

/** After this time a node that did not know `eth_simulateV1` is asked again, in milliseconds: it may have erred, or been updated. */
const ASK_AGAIN_MS = 600_000;

/** A call as nodes read it. */
function encodeCall({ from, to, data, terms }: SimulatedCall) {
  if (terms === undefined) return { from, to, data };
  const { gasLimit, maxFeePerGas, maxPriorityFeePerGas } = terms;
  const fees = { maxFeePerGas: numberToHex(maxFeePerGas), maxPriorityFeePerGas: numberToHex(maxPriorityFeePerGas) };
  return { from, to, data, gas: numberToHex(gasLimit), ...fees };
}

function encodeBlock({ seconds, number, baseFeePerGas, feeRecipient, prevRandao }: SimulatedBlock) {
  return {
    time: numberToHex(seconds),
    ...(number !== undefined && { number: numberToHex(number) }),
    ...(baseFeePerGas !== undefined && { baseFeePerGas: numberToHex(baseFeePerGas) }),
    ...(feeRecipient !== undefined && { feeRecipient }),
    ...(prevRandao !== undefined && { prevRandao }),
  };
}

/** One execution, in the given block: a tenth of the node's work for an estimate. */
async function simulateBlock(client: RpcClient, call: SimulatedCall, block: SimulatedBlock): Promise<Simulated> {
  const blockStateCalls = [{ blockOverrides: encodeBlock(block), calls: [encodeCall(call)] }];
  // Without validation a block has no base fee, which a contract would see.
  const request = call.terms === undefined ? { blockStateCalls } : { blockStateCalls, validation: true };
  const answer = parseArray(await client.request('eth_simulateV1', [request, 'latest']), 'simulated blocks');
  const [result] = parseArray(parseRecord(answer[0], 'simulated block').calls, 'simulated calls');
  const { status, gasUsed, returnData } = parseRecord(result, 'simulated call');
  const data = parseBytes(returnData, 'return data');
  return parseQuantity(status, 'status') === 1n
    ? { gas: parseQuantity(gasUsed, 'gas'), returned: data }
    : { reverted: data };
}

async function estimateAt(client: RpcClient, call: SimulatedCall, block: 'latest' | 'pending'): Promise<Simulated> {
  const [called, estimated] = await Promise.allSettled([
    client.request('eth_call', [encodeCall(call), block]),
    client.request('eth_estimateGas', [encodeCall(call), block]),
  ]);
  // Both revert then; not every node says what with when it is asked for an estimate.
  for (const outcome of [called, estimated]) {
    const revert = outcome.status === 'rejected' ? readRevert(outcome.reason) : undefined;
    if (revert !== undefined) return revert;
  }
  if (called.status === 'rejected') throw called.reason;
  if (estimated.status === 'rejected') throw estimated.reason;
  return { gas: parseQuantity(estimated.value, 'gas'), returned: parseBytes(called.value, 'return data') };
}

/** Errors of `eth_simulateV1` about the call or its time, by a node that knows the method well. @see https://github.com/ethereum/execution-apis */
const isAboutCall = (code: number) => code <= -38_000 && code > -39_000;

/** Whether the node has refused, rather than not answered. */
function isRefused(error: unknown): error is RpcAnswerError | RpcUnavailableError {
  if (error instanceof RpcAnswerError) return !isAboutCall(error.code);
  return error instanceof RpcUnavailableError && (error.code === 'RPC_ANSWER_INVALID' || isRefusedRequest(error));
}

/** A call that does nothing. */
const HARMLESS: SimulatedCall = { from: zeroAddress, to: zeroAddress, data: '0x' };

/**
 * Makes the simulation of calls: by `eth_simulateV1`, or by `eth_estimateGas` and `eth_call` when the node answers that with any error
 * that is not a revert.
 *
 * @see https://geth.ethereum.org/docs/interacting-with-geth/rpc/ns-eth#eth-simulate-v1
 */
export function createSimulator(options: {
  readonly client: RpcClient;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /**
   * Called once, when the node turns out not to know `eth_simulateV1`: each simulation costs the node two executions from then on,
   * and is made with the time of its newest block.
   */
  readonly onFallback: (reason: string) => void;
  /** Whether a revert says only that the newest block is too old: then the node's pending block is asked. */
  readonly isTooEarly: (returned: Hex | undefined) => boolean;
}): Simulator {
  const { client, now, onFallback, isTooEarly } = options;
  let isReported = false;
  let unknownUntilMs = 0;
  let probing: Promise<boolean> | undefined;

  /** Whether the node refuses a call that does nothing as well. Anybody may have made the call that it refused. */
  function isMethodRefused(block: SimulatedBlock): Promise<boolean> {
    probing ??= simulateBlock(client, HARMLESS, { seconds: block.seconds })
      .then(() => false, isRefused)
      .finally(() => {
        probing = undefined;
      });
    return probing;
  }

  async function takeRefusal(reason: string, block: SimulatedBlock): Promise<void> {
    if (!(await isMethodRefused(block))) return;
    unknownUntilMs = now() + ASK_AGAIN_MS;
    if (isReported) return;
    isReported = true;
    onFallback(reason);
  }

  /**
   * A chain that makes blocks only for transactions may stand still since before a request was signed: then its pending block counts,
   * which has the time of day.
   */
  async function estimate(call: SimulatedCall): Promise<Simulated> {
    const simulated = await estimateAt(client, call, 'latest');
    const isEarly = 'reverted' in simulated && isTooEarly(simulated.reverted);
    return isEarly ? await estimateAt(client, call, 'pending') : simulated;
  }

  return async function simulate(call, block) {
    if (now() < unknownUntilMs) return await estimate(call);
    try {
      return await simulateBlock(client, call, block);
    } catch (error) {
      const revert = readRevert(error);
      if (revert !== undefined) return revert;
      if (error instanceof RpcAnswerError && isAboutCall(error.code)) return await estimate(call);
      if (!isRefused(error)) throw error;
      await takeRefusal(error.message, block);
      return await estimate(call);
    }
  };
}
