import { createTestClient, type Hex, http, numberToHex } from 'viem';
import { gasPriceOracleBytecode, l1BlockBytecode } from './opStackBytecode.ts';

const GAS_PRICE_ORACLE = '0x420000000000000000000000000000000000000F';
const L1_BLOCK = '0x4200000000000000000000000000000000000015';
const ARB_GAS_INFO = '0x000000000000000000000000000000000000006C';
const NODE_INTERFACE = '0x00000000000000000000000000000000000000C8';
/** `isEcotone` and `isFjord`, both true. */
const AT_FJORD = 0x0101n;
/** Answers `getPricesInWei` with six words, the second of which is 16 × the price in slot 0: that of a byte on the base chain. */
const GAS_INFO_CODE = '0x600054601002602052' + '60c06000f3';
/** Answers `gasEstimateL1Component` with (16 × bytes × slot 0 ÷ slot 1, slot 1, slot 0): the data's price, in gas of this chain. */
const NODE_INTERFACE_CODE =
  '0x606435' + '601002' + '60005402' + '6001549004' + '600052' + '600154602052' + '600054604052' + '60606000f3';

const word = (value: bigint) => numberToHex(value, { size: 32 });

async function put(
  rpcUrl: string,
  contract: { address: Hex; code: string; slots: readonly (readonly [number, bigint])[] },
) {
  const chain = createTestClient({ mode: 'anvil', transport: http(rpcUrl) });
  const { address, code, slots } = contract;
  await chain.setCode({ address, bytecode: code as Hex });
  for (const [index, value] of slots) await chain.setStorageAt({ address, index, value: word(value) });
}

/** What an OP-stack chain charges for data. */
export interface OpStackPrices {
  /** Wei a gas on the base chain. */
  readonly l1BaseFee: bigint;
  readonly blobBaseFee: bigint;
  /** In millionths. */
  readonly baseFeeScalar: bigint;
  readonly blobBaseFeeScalar: bigint;
}

/**
 * Makes Anvil an OP-stack chain at the fork Fjord, as far as prices go: the real predeploys' bytecode and storage. Anvil itself does not
 * collect the fee.
 *
 * @param rpcUrl - of Anvil
 * @param prices - what the predeploys know of the base chain
 */
export async function installOpStack(rpcUrl: string, prices: OpStackPrices): Promise<void> {
  const { l1BaseFee, blobBaseFee, baseFeeScalar, blobBaseFeeScalar } = prices;
  await put(rpcUrl, { address: GAS_PRICE_ORACLE, code: gasPriceOracleBytecode, slots: [[0, AT_FJORD]] });
  // sequenceNumber takes the lowest 8 bytes of slot 3, then each scalar 4.
  const scalars = (baseFeeScalar << 96n) | (blobBaseFeeScalar << 64n);
  const slots = [
    [1, l1BaseFee],
    [3, scalars],
    [7, blobBaseFee],
  ] as const;
  await put(rpcUrl, { address: L1_BLOCK, code: l1BlockBytecode, slots });
}

/**
 * Makes Anvil look like Arbitrum, as far as prices go. Arbitrum's precompiles are part of its node and have no bytecode: these are
 * stand-ins, which answer in their form, without the compression that the real ones reckon with.
 *
 * @param rpcUrl - of Anvil
 * @param prices - wei a gas on the base chain and on this one
 */
export async function installArbitrum(
  rpcUrl: string,
  prices: { readonly l1BaseFee: bigint; readonly l2BaseFee: bigint },
): Promise<void> {
  const { l1BaseFee, l2BaseFee } = prices;
  await put(rpcUrl, { address: ARB_GAS_INFO, code: GAS_INFO_CODE, slots: [[0, l1BaseFee]] });
  const slots = [
    [0, l1BaseFee],
    [1, l2BaseFee],
  ] as const;
  await put(rpcUrl, { address: NODE_INTERFACE, code: NODE_INTERFACE_CODE, slots });
}
