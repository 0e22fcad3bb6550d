import type { KeyPair } from '../signing/createKeyPair.ts';
import type { SigningCrypto } from '../signing/loadSigningCrypto.ts';
import { writeRelayerCall } from '../signing/writeRelayerCall.ts';

/** How long a call waits for something to come, in seconds: as long as the service allows. */
const waitSeconds = 25;

const cursorForm = /"cursor":"([^"]+)"/;

/** A relayer's place in a chain's feed. */
export interface Follower {
  /** Writes the next call. */
  next(): Buffer;
  /** Takes the place that an answer names. @throws Error where it names none */
  learn(answer: Buffer): void;
}

/**
 * Follows a chain's feed from here on.
 *
 * @param crypto the curve and the hash
 * @param params as whom, and which chain
 * @returns the follower
 */
export function createFollower(
  crypto: SigningCrypto,
  params: { readonly relayer: KeyPair; readonly chainName: string },
): Follower {
  const { relayer, chainName } = params;
  let place = 'from=now';
  return {
    next() {
      const query = `?chainName=${encodeURIComponent(chainName)}&${place}&wait=${waitSeconds}`;
      return writeRelayerCall(crypto, { relayer, method: 'GET', path: '/requests/feed', query });
    },
    learn(answer) {
      const cursor = cursorForm.exec(answer.toString('latin1'))?.[1];
      if (cursor === undefined) throw new Error(`No cursor in ${answer.toString('utf8').slice(0, 200)}`);
      place = `cursor=${encodeURIComponent(cursor)}`;
    },
  };
}
