import { encodeForwarderCall } from '@prism-gateway/contracts';
import type { ForwarderLocation, SignedAction } from '@prism-gateway/protocol/typed-data';
import { type Address, zeroAddress } from 'viem';
import { encodeFunctionData, parseAbi } from 'viem/utils';
import { type ActionInput, writeParams } from '../user/actionInput.ts';
import { callContract, type NodeClient, readNumber } from './askNode.ts';
import { estimateActionGas } from './estimateActionGas.ts';
import { FeeQuoteError } from './feeQuoteError.ts';
import { readExtraCost } from './readExtraCost.ts';
import { readTip } from './readTip.ts';

const abi = parseAbi([
  'function relayerShareBps() view returns (uint16)',
  'function priorityWindow() view returns (uint32)',
  'function isOfficialRelayer(address) view returns (bool)',
]);

/** Calldata with no zero byte: a real signature has hardly any. */
const ANY_SIGNATURE = { v: 27, r: `0x${'7f'.repeat(32)}`, s: `0x${'7f'.repeat(32)}` } as const;
/** What the bytes of fee, time and signature that are not known yet may cost beyond those that are simulated. */
const CALLDATA_SLACK = 100n;
const WHOLE_BPS = 10_000n;
const WEI_PER_ETH = 10n ** 18n;
/** The relayer's own default. */
const DEFAULT_MARGIN_PERCENT = 10;

/** By what a fee is judged. */
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
  /** What a contract wallet's own check of a signature uses; default 30,000. */
  readonly walletGas?: bigint | undefined;
}

/** What a fee is asked for. */
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
  /** What the chain charges beside the gas, in wei. */
  readonly extraWei: bigint;
  /** What of the fee is the relayer's, in basis points. */
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
 * nothing stored. The gas is that of the very call, simulated in the signer's name; price, share and margin are judged as relayers do.
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
