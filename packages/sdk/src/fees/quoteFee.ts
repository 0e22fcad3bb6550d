import { encodeForwarderCall } from '@prism-gateway/contracts';
import type { ForwarderLocation, SignedAction } from '@prism-gateway/protocol/typed-data';
import { type Address, type Hex, zeroAddress } from 'viem';
import { encodeFunctionData, parseAbi } from 'viem/utils';
import { type ActionInput, writeParams } from '../user/actionInput.ts';
import { callContract, FeeQuoteError, type NodeClient, readNumber, readRefusal } from './askNode.ts';
import { readExtraCost } from './readExtraCost.ts';

const abi = parseAbi([
  'function relayerShareBps() view returns (uint16)',
  'function priorityWindow() view returns (uint32)',
  'function isOfficialRelayer(address) view returns (bool)',
]);

/** Calldata with no zero byte: a real signature has hardly any. */
const ANY_SIGNATURE = { v: 27, r: `0x${'7f'.repeat(32)}`, s: `0x${'7f'.repeat(32)}` } as const;
/** Extra gas for the bytes of fee, time and signature, which are not known when the call is simulated. */
const CALLDATA_SLACK = 100n;
const WHOLE_BPS = 10_000n;
const WEI_PER_ETH = 10n ** 18n;
/** The relayer's own default. */
const DEFAULT_MARGIN_PERCENT = 10;

/** By what a fee is evaluated. */
export interface FeeTerms {
  /** A viem public client, or anything that makes JSON-RPC calls to a node of the chain. */
  readonly client: NodeClient;
  readonly domain: ForwarderLocation;
  /** The relayer's rate: credits for one ether, in 18-decimal fixed point (`CREDITS_PER_ETH`). */
  readonly creditsPerEth: bigint;
  /** By how much a fee must exceed the price of the gas (`FEE_MARGIN_PERCENT`); default 10. */
  readonly marginPercent?: number | undefined;
  /** Who is to submit it; default: any relayer that is not official, and never was paid: the dearest one. */
  readonly relayer?: string | undefined;
  /** By how much the price of gas may rise until a relayer looks, in percent; default 0. A full block raises it by 12.5. */
  readonly headroomPercent?: number | undefined;
  /** Gas of a contract wallet's own check of a signature; default 30,000. */
  readonly walletGas?: bigint | undefined;
}

/** The action to quote a fee for. */
export interface QuotedAction<A extends SignedAction = SignedAction> {
  readonly action: A;
  /** Address in whose name. */
  readonly signer: string;
  /** As it would be submitted, less the fee. */
  readonly input: Omit<ActionInput<A>, 'relayerFee'>;
}

/** The least fee that such a relayer takes, and what it is made of. */
export interface FeeQuote {
  /** Credits, in base units. */
  readonly relayerFee: bigint;
  readonly gas: bigint;
  /** Base fee and tip, with the headroom, in wei. */
  readonly gasPrice: bigint;
  /** The chain's charge beside the gas, in wei. */
  readonly extraWei: bigint;
  /** The relayer's share of the fee, in basis points. */
  readonly shareBps: bigint;
  readonly marginPercent: number;
}

const divideUp = (dividend: bigint, divisor: bigint) => (dividend + divisor - 1n) / divisor;

async function readTerms({ client, domain, relayer, headroomPercent = 0 }: FeeTerms) {
  const view = async (functionName: 'relayerShareBps' | 'priorityWindow') =>
    readNumber(await callContract(client, { to: domain.forwarder, data: encodeFunctionData({ abi, functionName }) }));
  // In lower case an address carries no checksum that could be wrong.
  const from = (relayer?.toLowerCase() ?? zeroAddress) as Address;
  const officialData = encodeFunctionData({ abi, functionName: 'isOfficialRelayer', args: [from] });
  const [block, tip, share, window, official] = await Promise.all([
    client.request({ method: 'eth_getBlockByNumber', params: ['latest', false] }),
    readTip(client),
    view('relayerShareBps'),
    view('priorityWindow'),
    callContract(client, { to: domain.forwarder, data: officialData }),
  ]);
  const { baseFeePerGas, timestamp } = Object(block);
  const price = readNumber(baseFeePerGas) + tip;
  const isOfficial = readNumber(official) !== 0n;
  return {
    from,
    gasPrice: divideUp(price * (100n + BigInt(headroomPercent)), 100n),
    shareBps: isOfficial ? WHOLE_BPS : share,
    // Old enough for whoever submits it.
    timestamp: readNumber(timestamp) - (isOfficial ? 0n : window),
  };
}

/**
 * Quotes the fee of an action: the least that a relayer with these terms takes, as the chain stands now. Nothing is signed for it, and
 * nothing stored. The gas is that of the very call, simulated in the signer's name; price, share and margin are evaluated as relayers do.
 *
 * @param terms - node, Forwarder, and the relayer's rate and margin
 * @param order - action, signer and input; of a creation that is sponsored, the sponsor's own bounds are not part of the quote
 * @throws FeeQuoteError ACTION_REVERTS, NODE_ANSWER; and what the client throws
 * @see docs/specification.md RELAY-2
 * @example
 * const { relayerFee } = await quoteFee(terms, { action: 'WRITE_DATA_FOR', signer, input: { cloudId, dataId, payload } });
 * await user.writeData({ cloudId, dataId, payload, relayerFee });
 */
export async function quoteFee<A extends SignedAction>(terms: FeeTerms, order: QuotedAction<A>): Promise<FeeQuote> {
  const { client, domain, creditsPerEth, marginPercent = DEFAULT_MARGIN_PERCENT, walletGas } = terms;
  const { from, gasPrice, shareBps, timestamp } = await readTerms(terms);
  if (shareBps === 0n) throw new FeeQuoteError('NODE_ANSWER');
  const signer = order.signer.toLowerCase();
  const to = domain.forwarder.toLowerCase() as Address;

  async function quoteWith(relayerFee: bigint): Promise<FeeQuote> {
    // The input is the action's but for the fee.
    const input = { ...order.input, relayerFee, timestamp } as unknown as ActionInput<A>;
    const params = { ...writeParams<A>(input, 0), signer, ...ANY_SIGNATURE };
    const { data } = encodeForwarderCall({ action: order.action, params: params as never });
    const executed =
      (await estimateActionGas(client, { call: { from, to, data }, signer, walletGas })) + CALLDATA_SLACK;
    const extra = await readExtraCost(client, { chainId: domain.chainId, to, data, gas: executed });
    const gas = executed + extra.gas;
    const wei = divideUp((gas * gasPrice + extra.wei) * (100n + BigInt(marginPercent)), 100n);
    const share = divideUp(wei * creditsPerEth, WEI_PER_ETH);
    const fee = divideUp(share * WHOLE_BPS, shareBps);
    return { relayerFee: fee, gas, gasPrice, extraWei: extra.wei, shareBps, marginPercent };
  }

  // Whether a fee is paid at all, and how many bytes it has, is part of the gas.
  const first = await quoteWith(1n);
  return await quoteWith(first.relayerFee);
}

/** Params for the highest tip of the cheapest fifth of the gas in each of the last twenty blocks: relayers ask for the same. */
const TIP_HISTORY = ['0x14', 'latest', [20]] as const;

/** The usual tip of the last blocks. @returns undefined if all of them are empty, or the answer cannot be read */
function findUsual(history: unknown): bigint | undefined {
  const { reward, gasUsedRatio } = Object(history);
  if (!Array.isArray(reward) || !Array.isArray(gasUsedRatio)) return undefined;
  try {
    const tips = reward
      .filter((_, index) => Number(gasUsedRatio[index]) > 0)
      .map((percentiles) => readNumber(Object(percentiles)[0]))
      .sort((one, other) => (one < other ? -1 : 1));
    return tips[Math.floor((tips.length - 1) / 2)];
  } catch {
    return undefined;
  }
}

/** @returns undefined of a node that does not know the call */
async function readHistory(client: NodeClient): Promise<unknown> {
  try {
    return await client.request({ method: 'eth_feeHistory', params: TIP_HISTORY });
  } catch (error) {
    if (readRefusal(error) === undefined) throw error;
    return undefined;
  }
}

/**
 * Reads what is to be offered beyond the base fee as relayers do: what the node suggests, but no more than was usual in the last blocks.
 * A suggestion that is made from one block alone is whatever the last one who sent a transaction wanted it to be.
 *
 * @returns wei for a unit of gas
 * @throws what the client throws; FeeQuoteError NODE_ANSWER
 * @see docs/specification.md NODE-2
 */
async function readTip(client: NodeClient): Promise<bigint> {
  const [suggested, history] = await Promise.all([
    client.request({ method: 'eth_maxPriorityFeePerGas', params: [] }),
    readHistory(client),
  ]);
  const [tip, usual] = [readNumber(suggested), findUsual(history)];
  return usual !== undefined && usual < tip ? usual : tip;
}

/**
 * Code of a contract wallet that says yes to every question (ERC-1271): it stands at the signer's address while a call is simulated that
 * nobody has signed yet.
 */
const SAYS_YES: Hex = '0x631626ba7e60e01b60005260206000f3';
/** Gas by which the question to that wallet exceeds the check of a key's signature, which is made first in any case. */
const DETOUR_GAS = 3_380n;
/** Usual gas of a contract wallet's check: a proxy and one owner's signature. */
const USUAL_WALLET_GAS = 30_000n;
/** Code of an account that has a key still. @see https://eips.ethereum.org/EIPS/eip-7702 */
const DELEGATION = '0xef0100';
/** A revert, and what nodes say that know no `eth_simulateV1` or no state overrides in it. */
const REVERTED = 3;

interface SimulatedCall {
  readonly from: string;
  readonly to: string;
  readonly data: Hex;
}

/** The gas of a mined transaction; a node that does not simulate blocks estimates it, never lower. */
async function simulate(client: NodeClient, { call, signer }: { call: SimulatedCall; signer: string }) {
  const stateOverrides = { [signer]: { code: SAYS_YES } };
  try {
    const blockStateCalls = [{ stateOverrides, calls: [call] }];
    const blocks = await client.request({ method: 'eth_simulateV1', params: [{ blockStateCalls }, 'latest'] });
    const { status, gasUsed, returnData } = Object(Object(blocks)[0]?.calls?.[0]);
    if (readNumber(status) === 1n) return readNumber(gasUsed);
    throw new FeeQuoteError('ACTION_REVERTS', { data: String(returnData) });
  } catch (error) {
    if (error instanceof FeeQuoteError || readRefusal(error) === undefined) throw error;
    return readNumber(await client.request({ method: 'eth_estimateGas', params: [call, 'latest', stateOverrides] }));
  }
}

/**
 * Estimates what gas a relayer's transaction with one action uses, before anything is signed.
 *
 * @param question.call - with any signature in its calldata
 * @param question.signer - in whose name
 * @param question.walletGas - what a contract wallet's own check uses; default 30,000, and nothing for an account with a key
 * @throws FeeQuoteError ACTION_REVERTS, NODE_ANSWER; and what the client throws
 */
async function estimateActionGas(
  client: NodeClient,
  question: { readonly call: SimulatedCall; readonly signer: string; readonly walletGas?: bigint | undefined },
): Promise<bigint> {
  const { call, signer, walletGas = USUAL_WALLET_GAS } = question;
  try {
    const [code, gas] = await Promise.all([
      client.request({ method: 'eth_getCode', params: [signer, 'latest'] }),
      simulate(client, { call, signer }),
    ]);
    const hasKey = code === '0x' || String(code).startsWith(DELEGATION);
    return hasKey ? gas - DETOUR_GAS : gas + walletGas;
  } catch (error) {
    const refusal = readRefusal(error);
    if (refusal?.code !== REVERTED) throw error;
    throw new FeeQuoteError('ACTION_REVERTS', { cause: error, ...(refusal.data && { data: refusal.data }) });
  }
}
