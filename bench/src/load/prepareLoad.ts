import type { SigningCrypto } from '../signing/loadSigningCrypto.ts';
import type { LoadSource } from './loadSource.ts';
import { prepareClaims } from './prepareClaims.ts';
import { prepareCreates } from './prepareCreates.ts';
import { prepareLists } from './prepareLists.ts';
import { prepareReads } from './prepareReads.ts';
import { prepareSigns } from './prepareSigns.ts';

/**
 * Prepares the calls of a run, signatures and all, so that nothing of it falls into the measured time.
 *
 * @param crypto the curve and the hash
 * @param source what to ask
 * @returns the calls as bytes
 */
export function prepareLoad(crypto: SigningCrypto, source: LoadSource): Buffer[] {
  switch (source.kind) {
    case 'read':
      return prepareReads(source);
    case 'create':
      return prepareCreates(crypto, source.count);
    case 'claim':
      return prepareClaims(crypto, source);
    case 'list':
      return prepareLists(crypto, source);
    case 'sign':
      return prepareSigns(source);
  }
}
