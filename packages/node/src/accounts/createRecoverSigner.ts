import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Hex, hexToBytes, keccak256 } from 'viem';
import { loadSecp256k1 } from '../crypto/secp256k1/loadSecp256k1.ts';

/** Recovers who signed a digest, in lower case; undefined when no key can have made the signature. */
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
 * Makes the recovery of signers, 0.1 ms each on the native build. Many that come at once leave the process its turns.
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
    const key = secp256k1.recoverPublicKey(hexToBytes(digest), hexToBytes(`${r}${s.slice(2)}`), v - 27);
    return key === undefined ? undefined : `0x${keccak256(key).slice(-ADDRESS_DIGITS)}`;
  };
}
