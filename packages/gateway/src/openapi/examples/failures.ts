import type { ErrorCode, Parsed } from '@prism-gateway/protocol';
import { createAdminCheck } from '../../auth/admin.ts';
import { toApiError, unauthenticated, validationFailed } from '../../http/errors.ts';
import { parseBody } from '../../http/request.ts';
import { errorResponse } from '../../http/response.ts';
import type { Example, Examples } from '../document.ts';

/** Shows an error as the service answers it. */
export function errorExample(summary: string, error: unknown): Example {
  // `errorResponse` writes JSON text.
  return { summary, value: JSON.parse(String(errorResponse(toApiError(error)).body)) };
}

/** Shows what an input from outside is refused with. */
export function faultsExample(summary: string, parsed: Parsed<unknown>): Example {
  return errorExample(summary, validationFailed('faults' in parsed ? parsed.faults : []));
}

/** Shows what a body is refused with. */
export function bodyFaultsExample(summary: string, text: string, parse: (json: unknown) => Parsed<unknown>): Example {
  return faultsExample(summary, parseBody(new TextEncoder().encode(text), parse));
}

/** Shows what an act throws. */
export function thrownExample(summary: string, act: () => unknown): Example {
  try {
    act();
  } catch (thrown) {
    return errorExample(summary, thrown);
  }
  throw new Error(`The example "${summary}" must fail, and did not.`);
}

const check = createAdminCheck({ adminKeys: ['the right key'], adminReadKeys: [] });
const request = (headers: Readonly<Record<string, string>>) => new Request('http://127.0.0.1/', { headers });

/** The failures of a caller without the administrator's key. */
export const createAdminFailures = (): Examples => ({
  missing: thrownExample('No key', () => check(request({}))),
  wrong: thrownExample('A wrong key', () => check(request({ 'x-admin-key': 'a wrong key' }))),
});

const CODES = {
  timestamp: 'RELAYER_TIMESTAMP_REJECTED',
  signature: 'RELAYER_SIGNATURE_REJECTED',
  whitelist: 'RELAYER_WHITELIST_REJECTED',
} as const;

const rejected = (
  summary: string,
  check: 'timestamp' | 'signature' | 'whitelist',
  why: string,
  code: ErrorCode = CODES[check],
) => errorExample(summary, unauthenticated(code, `Relayer authentication failed at the ${check} check: ${why}.`));

/** The failures of a relayer whose proof does not hold, in the order of the checks. */
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
  suspended: rejected(
    'A suspended relayer',
    'whitelist',
    '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC is suspended (its key was seen in a log); ask the administrator',
    'RELAYER_SUSPENDED',
  ),
};
