import { hashBody } from '../signing/hashBody.ts';
import type { SigningCrypto } from '../signing/loadSigningCrypto.ts';
import { signRelayerCall } from '../signing/signRelayerCall.ts';
import type { ClaimSource } from './loadSource.ts';
import { writeHttp } from './writeHttp.ts';

const body = '{"status":"processing"}';

/**
 * Prepares claims: every one of another request, so every signature is another one.
 *
 * @param crypto the curve and the hash
 * @param source ids and relayers
 * @returns the calls, good for five minutes
 */
export function prepareClaims(crypto: SigningCrypto, source: ClaimSource): Buffer[] {
  const bodyHash = hashBody(crypto.keccak256, body);
  return source.requestIds.map((id, i) => {
    const target = `/requests/${id}`;
    // `i % length` is an index of a list that is not empty.
    const relayer = source.relayers[i % source.relayers.length]!;
    const call = { method: 'PATCH', path: target, bodyHash, timestampMs: Date.now() } as const;
    return writeHttp({ method: 'PATCH', target, headerLines: signRelayerCall(crypto, { relayer, call }), body });
  });
}
