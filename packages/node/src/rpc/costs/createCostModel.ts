import { type Address, type Hex, zeroAddress } from 'viem';
import { encodeFunctionData, parseAbi, serializeTransaction } from 'viem/utils';
import { parseArray, parseBytes, parseCount, parseQuantity, parseRecord } from '../answers/parseAnswers.ts';
import { readRevert } from '../answers/readRevert.ts';
import type { RpcClient } from '../client/createRpcClient.ts';
import { RpcAnswerError, RpcUnavailableError } from '../rpcErrors.ts';

/** OP-stack chains: what a transaction's data costs on the base chain. @see https://specs.optimism.io/protocol/predeploys.html */
const GAS_PRICE_ORACLE = '0x420000000000000000000000000000000000000F';
const oracleAbi = parseAbi([
  'function getL1Fee(bytes data) view returns (uint256)',
  'function getOperatorFee(uint256 gasUsed) view returns (uint256)',
]);
/** Arbitrum: prices of the base chain, and what an estimate has for it. @see https://docs.arbitrum.io/build-decentralized-apps/precompiles/reference */
const ARB_GAS_INFO = '0x000000000000000000000000000000000000006C';
const NODE_INTERFACE = '0x00000000000000000000000000000000000000C8';
const gasInfoAbi = parseAbi([
  'function getPricesInWei() view returns (uint256,uint256,uint256,uint256,uint256,uint256)',
]);
const nodeInterfaceAbi = parseAbi([
  'function gasEstimateL1Component(address to, bool contractCreation, bytes data) payable returns (uint64,uint256,uint256)',
]);
/** Nobody's: a transfer of nothing to it does nothing else. */
const NOBODY = '0x00000000000000000000000000000000000a11ce';
/** `getPricesInWei` answers with six words. */
const PRICES_BYTES = 6 * 32;
const WORD_BYTES = 32;

/** Fields of a transaction that are not known yet, as long as they usually are: they are data, too. */
const USUAL = { nonce: 100_000, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n } as const;

/** A transaction, as far as its price depends on it. */
export interface PricedTransaction {
  readonly to: Address;
  readonly data: Hex;
  /** Gas of its execution. */
  readonly gas: bigint;
}

/** Costs of a transaction beside its execution. */
export interface ExtraCost {
  /** Paid beside the gas, in wei. */
  readonly wei: bigint;
  /** Gas beside that of the execution, at the same price; the gas limit has to hold it, too. */
  readonly gas: bigint;
}

/** How a chain charges for transactions. */
export interface CostModel {
  readonly kind: 'plain' | 'op-stack' | 'arbitrum';
  /** For people, in one sentence. */
  readonly description: string;
  /**
   * What a transaction costs beside its execution, as things stand now.
   *
   * @throws RpcUnavailableError, RpcAnswerError
   */
  extraCost(transaction: PricedTransaction): Promise<ExtraCost>;
}

const PLAIN: CostModel = {
  kind: 'plain',
  description: 'gas is all that a transaction costs',
  extraCost: async () => ({ wei: 0n, gas: 0n }),
};

async function call(client: Pick<RpcClient, 'request'>, { to, data }: { to: Address; data: Hex }): Promise<Hex> {
  return parseBytes(await client.request('eth_call', [{ to, data }, 'latest']), 'return data');
}

/** The code of what only the message tells apart. @see https://eips.ethereum.org/EIPS/eip-1474 */
const NODES_OWN = -32_000;
/** What nodes say for a moment, like "header not found" and "missing trie node". */
const PASSING =
  /(header|block|state).*(not found|not available|missing)|missing trie node|unknown block|syncing|time ?out|busy/i;

/** @returns undefined if there is nothing at the address that knows the function @throws RpcUnavailableError, RpcAnswerError */
async function tryCall(
  client: Pick<RpcClient, 'request'>,
  target: { to: Address; data: Hex },
): Promise<Hex | undefined> {
  try {
    const returned = await call(client, target);
    return returned === '0x' ? undefined : returned;
  } catch (error) {
    if (readRevert(error) !== undefined) return undefined;
    if (!(error instanceof RpcAnswerError) || error.code !== NODES_OWN) throw error;
    // What the node is too far behind for, or too busy, says nothing of the chain: the model stays until the next start.
    if (PASSING.test(error.message)) throw new RpcUnavailableError(error.message);
    // "invalid opcode", as a precompile's place has it on other chains.
    return undefined;
  }
}

const byteCount = (hex: Hex | undefined) => (hex === undefined ? 0 : (hex.length - 2) / 2);

/** Reads the first word of what was returned. */
function readWord(returned: Hex): bigint {
  if (byteCount(returned) < WORD_BYTES)
    throw new RpcUnavailableError("the answer's price is nonsense", { code: 'RPC_ANSWER_INVALID' });
  return BigInt(returned.slice(0, 2 + 2 * WORD_BYTES));
}

const encodeL1Fee = (data: Hex) => ({
  to: GAS_PRICE_ORACLE as Address,
  data: encodeFunctionData({ abi: oracleAbi, functionName: 'getL1Fee', args: [data] }),
});
const encodeOperatorFee = (gas: bigint) => ({
  to: GAS_PRICE_ORACLE as Address,
  data: encodeFunctionData({ abi: oracleAbi, functionName: 'getOperatorFee', args: [gas] }),
});

async function openOpStack(client: Pick<RpcClient, 'request'>, chainId: number): Promise<CostModel | undefined> {
  if ((await tryCall(client, encodeL1Fee('0x00'))) === undefined) return undefined;
  let hasOperatorFee = (await tryCall(client, encodeOperatorFee(TRANSFER_GAS))) !== undefined;

  /** An upgrade of the chain may bring it at any time; a node that knows nothing of it later is wrong. */
  async function readOperatorFee(gas: bigint): Promise<bigint> {
    const returned = await (hasOperatorFee ? call : tryCall)(client, encodeOperatorFee(gas));
    hasOperatorFee ||= returned !== undefined;
    return returned === undefined ? 0n : readWord(returned);
  }

  return {
    kind: 'op-stack',
    description: 'gas, and beside it the data fee of an OP-stack chain and its operator fee, if it has one',
    async extraCost({ to, data, gas }) {
      const unsigned = serializeTransaction({ type: 'eip1559', chainId, to, data, gas, ...USUAL });
      const [l1Fee, operatorFee] = await Promise.all([
        call(client, encodeL1Fee(unsigned)).then(readWord),
        readOperatorFee(gas),
      ]);
      return { wei: l1Fee + operatorFee, gas: 0n };
    },
  };
}

/** Whether simulated gas holds that of the data already, as Arbitrum's own nodes have it: by a transfer of nothing. */
async function holdsData(client: Pick<RpcClient, 'request'>): Promise<boolean> {
  const transfer = { from: zeroAddress, to: NOBODY };
  try {
    const answer = await client.request('eth_simulateV1', [{ blockStateCalls: [{ calls: [transfer] }] }, 'latest']);
    const [block] = parseArray(answer, 'simulated blocks');
    const [result] = parseArray(parseRecord(block, 'simulated block').calls, 'simulated calls');
    // More than a transfer uses by itself is the gas of its data on the base chain.
    return parseQuantity(parseRecord(result, 'simulated call').gasUsed, 'gas') > TRANSFER_GAS;
  } catch (error) {
    if (!(error instanceof RpcAnswerError)) throw error;
    // Where it does not simulate blocks, an estimate takes the place of a simulation.
    return parseQuantity(await client.request('eth_estimateGas', [transfer]), 'gas') > TRANSFER_GAS;
  }
}

async function openArbitrum(client: Pick<RpcClient, 'request'>): Promise<CostModel | undefined> {
  const prices = encodeFunctionData({ abi: gasInfoAbi, functionName: 'getPricesInWei' });
  if (byteCount(await tryCall(client, { to: ARB_GAS_INFO, data: prices })) !== PRICES_BYTES) return undefined;
  const isCounted = await holdsData(client);
  return {
    kind: 'arbitrum',
    description: 'gas, which on Arbitrum holds what the data costs on the base chain',
    async extraCost({ to, data }) {
      if (isCounted) return { wei: 0n, gas: 0n };
      const question = encodeFunctionData({
        abi: nodeInterfaceAbi,
        functionName: 'gasEstimateL1Component',
        args: [to, false, data],
      });
      return { wei: 0n, gas: readWord(await call(client, { to: NODE_INTERFACE, data: question })) };
    },
  };
}

/**
 * Finds out how a chain charges for transactions, by asking it for the predeploys and precompiles that know the price of data.
 *
 * @returns the model; `plain` if there are none
 * @throws RpcUnavailableError, RpcAnswerError
 * @see docs/specification.md COST-1
 */
export async function createCostModel(client: Pick<RpcClient, 'request'>): Promise<CostModel> {
  const chainId = parseCount(await client.request('eth_chainId', []), 'chain id');
  const [opStack, arbitrum] = await Promise.all([openOpStack(client, chainId), openArbitrum(client)]);
  return opStack ?? arbitrum ?? PLAIN;
}

/** Gas of a transaction that does nothing, a plain transfer. @see https://eips.ethereum.org/EIPS/eip-2 */
export const TRANSFER_GAS = 21_000n;
