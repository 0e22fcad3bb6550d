/** Code of accounts that say yes to any signature as long as it serves them. */
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

/** Answers of a contract wallet to whoever asks about a signature; none looks at it. */
const TURNCOATS: readonly Hex[] = [
  // Say yes only if no transaction is mined.
  yesIf(concat([OP.baseFee, OP.isZero])),
  yesIf(concat([OP.gasPrice, OP.isZero])),
  yesIf(concat([OP.coinbase, OP.isZero])),
  yesIf(concat([OP.prevRandao, OP.isZero])),
  // Only if it is given all the gas that there may be: 295,000 at least.
  yesIf(concat(['0x62048058', OP.gas, OP.gt])),
  // Change their mind from block to block.
  yesIf(isEven(OP.number)),
  yesIf(isEven(OP.timestamp)),
  yesIf(isEven(OP.prevRandao)),
  yesIf(isEven(concat([push(1), OP.number, OP.sub, OP.blockHash]))),
  // No simulation foresees the balance of the transaction's sender, to the last wei.
  yesIf(isEven(concat([OP.origin, OP.balance]))),
  // Uses all the gas that it gets, always.
  BURN_THEN_YES,
];

/** Contracts that a hostile account delegates to: one says yes to every signature, one burns all gas. */
export const SAYS_YES: Hex = '0x00000000000000000000000000000000005a4e55';
export const BURNER: Hex = '0x0000000000000000000000000000000000b0b0b0';
/** Contracts that say yes while nobody pays for it. */
export const TURNCOAT_CODES: ReadonlyMap<Hex, Hex> = new Map(
  TURNCOATS.map((code, index) => [numberToHex(0xc0de00 + index, { size: 20 }), code]),
);
/** Code of all of them, by address. */
export const HOSTILE_CODES: ReadonlyMap<Hex, Hex> = new Map([
  ...TURNCOAT_CODES,
  [SAYS_YES, SAY_YES],
  [BURNER, OP.invalid],
]);
