import { concat, type Hex, numberToHex, size } from 'viem';

/** Opcodes of the few instructions that these wallets are made of. @see https://www.evm.codes */
const OP = {
  sub: '0x03',
  gt: '0x11',
  isZero: '0x15',
  and: '0x16',
  balance: '0x31',
  origin: '0x32',
  blockHash: '0x40',
  coinbase: '0x41',
  timestamp: '0x42',
  number: '0x43',
  prevRandao: '0x44',
  baseFee: '0x48',
  gasPrice: '0x3a',
  sload: '0x54',
  jumpIf: '0x57',
  gas: '0x5a',
  jumpDest: '0x5b',
  invalid: '0xfe',
} as const satisfies Record<string, Hex>;

const push = (value: number): Hex => concat(['0x61', numberToHex(value, { size: 2 })]);
/** Returns what ERC-1271 asks for: its magic value, in a word. */
const SAY_YES: Hex = '0x631626ba7e60e01b60005260206000f3';
/** Reads one condition: whether a word that the chain tells is even. */
const isEven = (word: Hex): Hex => concat([word, push(1), OP.and, OP.isZero]);

/** Says yes if a condition holds, and burns all of its gas else. */
function yesIf(condition: Hex): Hex {
  const head = size(condition) + 3 + 2;
  return concat([condition, push(head), OP.jumpIf, OP.invalid, OP.jumpDest, SAY_YES]);
}

/** Runs in circles until little gas is left, and then says yes. */
const BURN_THEN_YES: Hex = concat([OP.jumpDest, push(5000), OP.gas, OP.gt, push(0), OP.jumpIf, SAY_YES]);

/** A contract wallet's answers to whoever asks about a signature; none looks at it. */
export const WALLET_CODES = {
  /** Says yes as long as no slot is set: its owner sets one the moment before its transaction is mined. */
  turncoat: yesIf(concat([push(0), OP.sload, OP.isZero])),
  /** Say yes only if no transaction is mined. */
  seesBaseFee: yesIf(concat([OP.baseFee, OP.isZero])),
  seesGasPrice: yesIf(concat([OP.gasPrice, OP.isZero])),
  seesCoinbase: yesIf(concat([OP.coinbase, OP.isZero])),
  seesRandao: yesIf(concat([OP.prevRandao, OP.isZero])),
  /** Says yes only if it is given all the gas there may be: 295,000 at least. */
  seesGas: yesIf(concat(['0x62048058', OP.gas, OP.gt])),
  /** Change their mind from block to block. */
  evenBlocks: yesIf(isEven(OP.number)),
  evenSeconds: yesIf(isEven(OP.timestamp)),
  gambles: yesIf(isEven(OP.prevRandao)),
  gamblesOnHash: yesIf(isEven(concat([push(1), OP.number, OP.sub, OP.blockHash]))),
  /** No simulation foresees the balance of the transaction's sender, to the last wei. */
  gamblesOnSender: yesIf(isEven(concat([OP.origin, OP.balance]))),
  /** Always says yes, until its owner gives it another implementation. */
  upgrades: SAY_YES,
  /** Uses all the gas it gets, always. */
  glutton: BURN_THEN_YES,
} as const satisfies Record<string, Hex>;

/** The code of an upgraded wallet: it burns all the gas that it is asked with. */
export const BURNER: Hex = OP.invalid;
