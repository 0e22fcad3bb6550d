import type { SigningCrypto } from '../signing/loadSigningCrypto.ts';
import { emptyBodyHash, signRelayerCall } from '../signing/signRelayerCall.ts';
import type { ListSource } from './loadSource.ts';
import { writeHttp } from './writeHttp.ts';

/** How far back the timestamps may go; the service takes five minutes, and the run needs some of them. */
const oldestMs = 120_000;

/**
 * Prepares first pages of the pending requests. What is signed differs by its timestamp alone, so each call gets another millisecond.
 *
 * @param crypto the curve and the hash
 * @param source how many calls, which relayers
 * @returns the calls, good for three minutes
 */
export function prepareLists(crypto: SigningCrypto, source: ListSource): Buffer[] {
  const now = Date.now();
  const chain = source.chainName === undefined ? '' : `&chainName=${encodeURIComponent(source.chainName)}`;
  return Array.from({ length: source.count }, (_, i) => {
    // `i % length` is an index of a list that is not empty.
    const relayer = source.relayers[i % source.relayers.length]!;
    const timestampMs = now - (i % oldestMs);
    const call = { method: 'GET', path: '/requests', bodyHash: emptyBodyHash, timestampMs } as const;
    const headerLines = signRelayerCall(crypto, { relayer, call });
    return writeHttp({ method: 'GET', target: `/requests?status=pending&limit=100${chain}`, headerLines });
  });
}
