import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Hex, recoverAddress } from 'viem';
import { hexToBytes, keccak256 } from 'viem/utils';
import { loadSecp256k1 } from './loadSecp256k1.ts';

/** Recovers who signed a digest, in lower case; undefined where no key can have made the signature. */
export type RecoverSigner = (signed: {
  readonly digest: Hex;
  readonly v: number;
  readonly r: Hex;
  readonly s: Hex;
}) => Promise<Hex | undefined>;

/** How many signers are recovered in one turn of the event loop: a few milliseconds of work. */
const TURN = 32;

/** Hex digits of a hash that make an address. */
const ADDRESS_DIGITS = 40;

/**
 * Makes the recovery of signers: natively (0.1 ms), or in JavaScript (3 ms) where there is no build for the platform.
 *
 * @see https://github.com/bitcoin-core/secp256k1/blob/master/include/secp256k1_recovery.h
 */
export function createRecoverSigner(): RecoverSigner {
  const secp256k1 = loadSecp256k1();
  let left = TURN;
  let turn: Promise<void> | undefined;
  /** Anybody can queue signatures that are recovered in vain: whatever else the process does goes on in between. */
  async function takeTurn(): Promise<void> {
    while (turn !== undefined) await turn;
    left -= 1;
    if (left > 0) return;
    turn = nextTurn().then(() => {
      [turn, left] = [undefined, TURN];
    });
  }
  return async function recoverSigner({ digest, v, r, s }) {
    await takeTurn();
    if (v !== 27 && v !== 28) return undefined;
    try {
      if (secp256k1 === undefined) {
        const address = await recoverAddress({ hash: digest, signature: { r, s, yParity: v - 27 } });
        // Lower case of hex is hex.
        return address.toLowerCase() as Hex;
      }
      const key = secp256k1.ecdsaRecover(hexToBytes(`${r}${s.slice(2)}`), v - 27, hexToBytes(digest), false);
      return `0x${keccak256(key.subarray(1)).slice(-ADDRESS_DIGITS)}`;
    } catch {
      // r or s out of range, or no point there.
      return undefined;
    }
  };
}
