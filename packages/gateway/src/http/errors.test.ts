import { expect, test } from 'vitest';
import { DependencyUnavailableError, InvalidCursorError, TokenRejectedError } from '../ports/errors.ts';
import {
  ClaimNotOwnedError,
  RequestAlreadyClaimedError,
  RequestNotClaimedError,
  RequestNotFoundError,
} from '../requests/errors.ts';
import { toApiError } from './errors.ts';
import { errorResponse } from './response.ts';

const cursorMessage = 'expected the lastKey of the page before, with the same filters';

test.each([
  [new RequestNotFoundError('42'), 404, { code: 'REQUEST_NOT_FOUND', error: 'There is no request 42.' }],
  [
    new RequestAlreadyClaimedError({ status: 'processing' }),
    409,
    {
      code: 'REQUEST_ALREADY_CLAIMED',
      error: 'The request is processing; processing was asked, and only a pending request can be claimed.',
    },
  ],
  [
    new RequestNotClaimedError({ status: 'success' }, 'failed'),
    409,
    {
      code: 'REQUEST_NOT_CLAIMED',
      error: 'The request is success; failed was asked, and only a processing request can be reported on.',
    },
  ],
  [
    new ClaimNotOwnedError({ status: 'processing' }, 'success'),
    409,
    {
      code: 'CLAIM_NOT_OWNED',
      error: 'The request is processing under another claim; success was asked, and only its owner may report.',
    },
  ],
  [
    new InvalidCursorError(),
    400,
    {
      code: 'VALIDATION_FAILED',
      error: `Not valid: lastKey: ${cursorMessage}.`,
      details: [{ path: 'lastKey', message: cursorMessage }],
    },
  ],
  [
    new TokenRejectedError('The access token has expired.'),
    401,
    { code: 'TOKEN_REJECTED', error: 'The access token has expired.' },
  ],
  [
    new DependencyUnavailableError('store'),
    503,
    { code: 'DEPENDENCY_UNAVAILABLE', error: 'The store did not answer; nothing is known to have changed. Try again.' },
  ],
  [
    new Error('what nobody may know'),
    500,
    { code: 'UNEXPECTED', error: 'Something went wrong here; the request id in X-Request-Id helps to find it.' },
  ],
  [
    'not even an error',
    500,
    { code: 'UNEXPECTED', error: 'Something went wrong here; the request id in X-Request-Id helps to find it.' },
  ],
])('%s has its own answer', (thrown, status, body) => {
  const response = errorResponse(toApiError(thrown));
  expect(response.status).toBe(status);
  expect(JSON.parse(String(response.body))).toEqual(body);
});
