import { type ErrorCode, REQUEST_MOVES } from '@prism-gateway/protocol';
import type { Report, StoredRequest } from '../ports/requestStore.ts';

/** There is no such request, or none any more. */
export class RequestNotFoundError extends Error {
  override readonly name = 'RequestNotFoundError';
  readonly code = 'REQUEST_NOT_FOUND';

  constructor(requestId: string) {
    super(`There is no request ${requestId}.`);
  }
}

/** A move that the state machine does not allow a request as it stands. */
export abstract class RequestConflictError extends Error {
  abstract readonly code: ErrorCode;
}

/** A claim of a request that is not pending, nor held under a lapsed lease. */
export class RequestAlreadyClaimedError extends RequestConflictError {
  override readonly name = 'RequestAlreadyClaimedError';
  readonly code = 'REQUEST_ALREADY_CLAIMED';

  constructor({ status }: Pick<StoredRequest, 'status'>) {
    const { from, to } = REQUEST_MOVES.claim;
    super(`The request is ${status}; ${to} was asked, and only a ${from} request can be claimed.`);
  }
}

/** A claim of a request that the relayer has held as long as it may, and given back. */
export class ClaimedTooLongError extends RequestConflictError {
  override readonly name = 'ClaimedTooLongError';
  readonly code = 'CLAIMED_TOO_LONG';

  constructor(maxClaimSeconds: number) {
    super(`This relayer has held the request for ${maxClaimSeconds} s, and leaves it to others for a lease.`);
  }
}

/** A claim of a relayer that holds as many requests as it may. */
export class TooManyOpenClaimsError extends RequestConflictError {
  override readonly name = 'TooManyOpenClaimsError';
  readonly code = 'TOO_MANY_OPEN_CLAIMS';

  constructor(maxOpenClaims: number) {
    super(
      `This relayer holds ${maxOpenClaims} requests, and no more are allowed: report on some or release them first.`,
    );
  }
}

/** A relayer's wish for a request that it holds. */
type Asked = Report['outcome']['status'] | 'pending';

/** A report on, or a release of, a request that nobody holds. */
export class RequestNotClaimedError extends RequestConflictError {
  override readonly name = 'RequestNotClaimedError';
  readonly code = 'REQUEST_NOT_CLAIMED';

  constructor({ status }: Pick<StoredRequest, 'status'>, asked: Asked) {
    const { from } = REQUEST_MOVES.report;
    const act = asked === 'pending' ? 'given back' : 'reported on';
    super(`The request is ${status}; ${asked} was asked, and only a ${from} request can be ${act}.`);
  }
}

/** A report or a release by another relayer than the one that holds the claim. */
export class ClaimNotOwnedError extends RequestConflictError {
  override readonly name = 'ClaimNotOwnedError';
  readonly code = 'CLAIM_NOT_OWNED';

  constructor({ status }: Pick<StoredRequest, 'status'>, asked: Asked) {
    const act = asked === 'pending' ? 'give it back' : 'report';
    super(`The request is ${status} under another claim; ${asked} was asked, and only its owner may ${act}.`);
  }
}
