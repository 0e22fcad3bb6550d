import { unauthenticated } from '../../http/errors.ts';
import type { Examples } from '../document.ts';
import { errorExample } from './errorExample.ts';

const rejected = (summary: string, check: string, why: string) =>
  errorExample(summary, unauthenticated('', `Relayer authentication failed at the ${check} check: ${why}.`));

/** What a relayer is told whose proof does not hold, in the order of the checks. */
export const RELAYER_FAILURES: Examples = {
  missing: rejected('No proof at all', 'timestamp', 'X-Relayer-Timestamp is missing'),
  timestamp: rejected(
    'A clock that is off, or an old signature',
    'timestamp',
    'X-Relayer-Timestamp is more than 5 minutes from the current time',
  ),
  signature: rejected(
    'Another key, method, path or body',
    'signature',
    'X-Relayer-Signature was not made by X-Relayer-Address over this call',
  ),
  whitelist: rejected(
    'A good signature of a stranger',
    'whitelist',
    '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC is not a whitelisted relayer',
  ),
};
