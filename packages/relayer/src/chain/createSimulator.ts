import type { Hex } from 'viem';
import { numberToHex } from 'viem/utils';
import { ChainError } from './chainError.ts';
import type { Rpc } from './createRpc.ts';
import { nameReason } from './decodeReason.ts';
import { readBytes, readList, readQuantity, readRecord } from './readAnswer.ts';

/** What a simulated transaction would use and return, or what it would revert with. */
export type Simulated = { readonly gas: bigint; readonly returned: Hex } | { readonly reverted: Hex | undefined };

/** A call of the Forwarder to simulate. */
export interface SimulatedCall {
  readonly from: Hex;
  readonly to: Hex;
  readonly data: Hex;
}

/** Simulates a call after the newest block. @param seconds - Unix time that the next block is expected to have */
export type Simulator = (call: SimulatedCall, seconds: bigint) => Promise<Simulated>;

/** One execution, in a block of the given time: a tenth of the node's work for an estimate. */
async function simulateBlock(rpc: Rpc, call: SimulatedCall, seconds: bigint): Promise<Simulated> {
  const blockStateCalls = [{ blockOverrides: { time: numberToHex(seconds) }, calls: [call] }];
  const answer = readList(await rpc.call('eth_simulateV1', [{ blockStateCalls }, 'latest']), 'simulated blocks');
  const [result] = readList(readRecord(answer[0], 'simulated block').calls, 'simulated calls');
  const { status, gasUsed, returnData } = readRecord(result, 'simulated call');
  const data = readBytes(returnData, 'return data');
  return readQuantity(status, 'status') === 1n
    ? { gas: readQuantity(gasUsed, 'gas'), returned: data }
    : { reverted: data };
}

/**
 * A chain that makes blocks only for transactions may stand still since before the request was signed: then its pending block tells,
 * which has the time of day.
 */
async function estimate(rpc: Rpc, call: SimulatedCall): Promise<Simulated> {
  async function estimateAt(block: 'latest' | 'pending'): Promise<Simulated> {
    const outcome = await rpc.attempt('eth_estimateGas', [call, block]);
    if (!('result' in outcome)) return outcome;
    const called = await rpc.attempt('eth_call', [call, block]);
    if (!('result' in called)) return called;
    return { gas: readQuantity(outcome.result, 'gas'), returned: readBytes(called.result, 'return data') };
  }
  const simulated = await estimateAt('latest');
  const isEarly = 'reverted' in simulated && nameReason(simulated.reverted) === 'RequestNotYetOpen';
  return isEarly ? await estimateAt('pending') : simulated;
}

/**
 * Makes the simulation of calls: by `eth_simulateV1`, or by `eth_estimateGas` where the node does not know it.
 *
 * @param rpc - makes the calls
 * @see https://geth.ethereum.org/docs/interacting-with-geth/rpc/ns-eth#eth-simulate-v1
 */
export function createSimulator(rpc: Rpc): Simulator {
  let isKnown = true;
  return async function simulate(call, seconds) {
    if (!isKnown) return await estimate(rpc, call);
    try {
      return await simulateBlock(rpc, call, seconds);
    } catch (error) {
      if (!(error instanceof ChainError) || error.code !== 'METHOD_UNSUPPORTED') throw error;
      isKnown = false;
      return await estimate(rpc, call);
    }
  };
}
