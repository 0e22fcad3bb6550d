import { type Address, type Hex, zeroAddress } from 'viem';
import { encodeFunctionData, parseAbi, serializeTransaction } from 'viem/utils';
import { callContract, type NodeClient, readNumber, readRefusal } from './askNode.ts';

/** OP-stack chains: what a transaction's data costs on the base chain. @see https://specs.optimism.io/protocol/predeploys.html */
const GAS_PRICE_ORACLE = '0x420000000000000000000000000000000000000F';
/** Arbitrum: prices of the base chain, and what an estimate has for it. @see https://docs.arbitrum.io/build-decentralized-apps/precompiles/reference */
const ARB_GAS_INFO = '0x000000000000000000000000000000000000006C';
const NODE_INTERFACE = '0x00000000000000000000000000000000000000C8';
const abi = parseAbi([
  'function getL1Fee(bytes data) view returns (uint256)',
  'function getOperatorFee(uint256 gasUsed) view returns (uint256)',
  'function getPricesInWei() view returns (uint256,uint256,uint256,uint256,uint256,uint256)',
  'function gasEstimateL1Component(address to, bool contractCreation, bytes data) payable returns (uint64,uint256,uint256)',
]);
/** `getPricesInWei` answers with six words: `0x` and 384 digits. */
const PRICES_LENGTH = 2 + 6 * 64;
/** Gas of a transfer by itself: more than that is the gas of its data on the base chain. */
const TRANSFER_GAS = 21_000n;
/** Nobody's: a transfer of nothing to it does nothing else. */
const NOBODY = '0x00000000000000000000000000000000000a11ce';
/** Codes of calls that could not be carried out: a revert, or a place where there is no contract. */
const CALL_FAILED: readonly unknown[] = [3, -32_000];

/** Fields of a transaction that are not known yet, as long as they usually are: they are data, too. */
const USUAL = { nonce: 100_000, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n } as const;

/** Costs of a transaction beside its execution. */
export interface ExtraCost {
  /** In wei. */
  readonly wei: bigint;
  /** Gas beside that of the execution, at the same price. */
  readonly gas: bigint;
}

/** @returns `0x` if there is nothing at the address that knows the function */
async function tryCall(client: NodeClient, to: string, data: Hex): Promise<string> {
  try {
    return String(await callContract(client, { to, data }));
  } catch (error) {
    if (!CALL_FAILED.includes(readRefusal(error)?.code)) throw error;
    return '0x';
  }
}

/** Whether simulated gas holds that of the data already, as Arbitrum's own nodes have it: by a transfer of nothing. */
async function holdsData(client: NodeClient): Promise<boolean> {
  const transfer = { from: zeroAddress, to: NOBODY };
  try {
    const blockStateCalls = [{ calls: [transfer] }];
    const blocks = await client.request({ method: 'eth_simulateV1', params: [{ blockStateCalls }, 'latest'] });
    return readNumber(Object(Object(blocks)[0]?.calls?.[0]).gasUsed) > TRANSFER_GAS;
  } catch (error) {
    if (readRefusal(error) === undefined) throw error;
    return readNumber(await client.request({ method: 'eth_estimateGas', params: [transfer] })) > TRANSFER_GAS;
  }
}

/**
 * Asks a chain what a transaction costs beside its gas: data on OP-stack chains and Arbitrum, nothing elsewhere. It is what relayers
 * reckon with.
 *
 * @param transaction.gas - what its execution uses
 * @throws what the client throws; FeeQuoteError NODE_ANSWER
 * @see docs/specification.md COST-1
 */
export async function readExtraCost(
  client: NodeClient,
  transaction: { readonly chainId: number; readonly to: Address; readonly data: Hex; readonly gas: bigint },
): Promise<ExtraCost> {
  const { to, data, gas } = transaction;
  const unsigned = serializeTransaction({ type: 'eip1559', ...transaction, ...USUAL });
  const [l1Fee, operatorFee, prices] = await Promise.all([
    tryCall(client, GAS_PRICE_ORACLE, encodeFunctionData({ abi, functionName: 'getL1Fee', args: [unsigned] })),
    tryCall(client, GAS_PRICE_ORACLE, encodeFunctionData({ abi, functionName: 'getOperatorFee', args: [gas] })),
    tryCall(client, ARB_GAS_INFO, encodeFunctionData({ abi, functionName: 'getPricesInWei' })),
  ]);
  if (l1Fee !== '0x') {
    return { wei: readNumber(l1Fee) + (operatorFee === '0x' ? 0n : readNumber(operatorFee)), gas: 0n };
  }
  if (prices.length !== PRICES_LENGTH || (await holdsData(client))) return { wei: 0n, gas: 0n };
  const question = encodeFunctionData({ abi, functionName: 'gasEstimateL1Component', args: [to, false, data] });
  return { wei: 0n, gas: readNumber(await callContract(client, { to: NODE_INTERFACE, data: question })) };
}
