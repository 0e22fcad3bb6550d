import { EMPTY_BODY_HASH, RELAYER_TIMESTAMP_SKEW_MS } from '../../src/auth/relayerAuth.ts';
import { GOOD_CASES } from './goodCases.ts';
import { MESSAGE_CASES } from './messageCases.ts';
import { SIGNATURE_FORM_CASES } from './signatureFormCases.ts';
import { TIMESTAMP_CASES } from './timestampCases.ts';
import { buildVector, WHITELIST } from './vectorCase.ts';
import { WHITELIST_CASES } from './whitelistCases.ts';

/** Builds the content of `vectors/relayer-auth.json`; the same every time. */
export async function buildRelayerAuthVectors() {
  const cases = [...GOOD_CASES, ...TIMESTAMP_CASES, ...SIGNATURE_FORM_CASES, ...MESSAGE_CASES, ...WHITELIST_CASES];
  return {
    timestampSkewMs: RELAYER_TIMESTAMP_SKEW_MS,
    emptyBodyHash: EMPTY_BODY_HASH,
    whitelist: WHITELIST,
    vectors: await Promise.all(cases.map(buildVector)),
  };
}
