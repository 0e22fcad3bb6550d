import type { Abi, Address, Hex, TransactionReceipt } from 'viem';
import { decodeErrorResult, encodeDeployData, encodeFunctionData, getAddress, toHex } from 'viem/utils';
import {
  creditTokenAbi,
  exchangeAbi,
  forwarderAbi,
  payoutsAbi,
  type RequestExecuted,
  readRequestExecuted,
} from '../../src/index.ts';
import { campaignAbi } from '../generated/campaignAbi.ts';
import type { Chain } from './openChain.ts';

/** The result of a transaction. */
export interface Outcome {
  readonly receipt: TransactionReceipt;
  /** The Forwarder's events. */
  readonly events: readonly RequestExecuted[];
  /** The custom error that it reverted with, like `PrismNotFound(0x…)`; absent if it did not. */
  readonly error?: string;
}

/** A transaction of an account that the node holds; without `to` it creates a contract. */
export interface Order {
  readonly from: Address;
  readonly to?: Address;
  readonly data: Hex;
  readonly gas?: bigint;
}

/** A call of a contract's function. */
export interface FunctionOrder extends Omit<Order, 'data' | 'to'> {
  readonly to: Address;
  readonly abi: Abi;
  readonly functionName: string;
  readonly args: readonly unknown[];
}

/** More than any test needs, and so no estimate is made; half a block. */
export const GAS = 15_000_000n;

/** Reads what a mined transaction reverted with. */
async function readRevert({ client }: Chain, hash: Hex): Promise<Hex> {
  // The call tracer's answer is no part of viem's schema.
  const method = { method: 'debug_traceTransaction', params: [hash, { tracer: 'callTracer' }] } as never;
  const trace = (await client.request(method)) as { output?: Hex };
  return trace.output ?? '0x';
}

/** Sends a transaction, mines its block, and says what became of it. */
export async function sendTransaction(chain: Chain, order: Order): Promise<Outcome> {
  const { client, deployment } = chain;
  const { from, to, data, gas = GAS } = order;
  const params = [{ from, data, gas: toHex(gas), ...(to === undefined ? {} : { to }) }];
  // viem's schema wants more fields than a node needs.
  const hash = (await client.request({ method: 'eth_sendTransaction', params } as never)) as Hex;
  await client.mine({ blocks: 1 });
  const receipt = await client.getTransactionReceipt({ hash });
  const events = readRequestExecuted({ logs: receipt.logs, forwarder: deployment.forwarder });
  if (receipt.status === 'success') return { receipt, events };
  return { receipt, events, error: describeError(await readRevert(chain, hash)) };
}

/** The tests' transactions. */
export function createChainTransactions(chain: Chain) {
  const send = (order: Order) => sendTransaction(chain, order);
  const call = (order: FunctionOrder) => send({ ...order, data: encodeFunctionData(order) });
  const onToken = { to: chain.deployment.creditToken, abi: creditTokenAbi };
  return {
    sendTransaction: send,
    call,
    /** Gives credits of the deployer's. */
    giveCredits: (to: Address, amount: bigint) =>
      call({ ...onToken, from: chain.deployer, functionName: 'transfer', args: [to, amount] }),
    /** Lets another spend credits of an account that the node holds. */
    approve: (from: Address, spender: Address, amount: bigint) =>
      call({ ...onToken, from, functionName: 'approve', args: [spender, amount] }),
    /** Deploys a contract of the tests. */
    deploy: async (abi: Abi, bytecode: Hex, args: readonly unknown[] = [], gas = GAS): Promise<Address> => {
      const { receipt } = await send({ from: chain.deployer, data: encodeDeployData({ abi, bytecode, args }), gas });
      if (!receipt.contractAddress) throw new Error('The deployment of a test contract failed.');
      return getAddress(receipt.contractAddress);
    },
    /** Sets the time of the next block, in Unix seconds. */
    setNextTime: (timestamp: bigint) => chain.client.setNextBlockTimestamp({ timestamp }),
  };
}

export type ChainTransactions = ReturnType<typeof createChainTransactions>;

/** Writes revert data out, like `PrismNotFound(0x…)`; `0x` if there was none. */
export function describeError(data: Hex): string {
  if (data === '0x') return '0x';
  const { errorName, args } = decodeErrorResult({
    abi: [...forwarderAbi, ...exchangeAbi, ...payoutsAbi, ...campaignAbi],
    data,
  });
  return `${errorName}(${(args ?? []).join(', ')})`;
}
