import { type RpcFaultProxy, startRpcFaultProxy } from '@prism-gateway/testing';
import { numberToHex, toFunctionSelector } from 'viem';
import { computeCreditsOwed } from '../../src/amounts/computeCredits.ts';
import { type CallParameter, refuseTogether } from './refuseTogether.ts';

const QUOTE_SELECTOR = toFunctionSelector('quote(uint256)');
const POOR_RATE = 100n;

/** Starts a line to a node on which the Exchange quotes a tenth of its rate, so that nothing is bought. */
export async function startPoorQuotes(rpcUrl: string): Promise<RpcFaultProxy> {
  return await startRpcFaultProxy({
    target: rpcUrl,
    plan(method, _, [call]) {
      if (method !== 'eth_call') return undefined;
      const { data = '0x' } = call as CallParameter;
      if (!data.startsWith(QUOTE_SELECTOR)) return refuseTogether(call as CallParameter);
      const quoted = computeCreditsOwed(BigInt(`0x${data.slice(10)}`), POOR_RATE);
      return { kind: 'answer', result: numberToHex(quoted, { size: 32 }) };
    },
  });
}
