/**
 * The states of a request and the moves between them:
 *
 *     pending --claim--> processing --report--> success | failed
 *
 * With a claim lease, `processing --claim--> processing` takes over an expired claim.
 *
 * @see docs/specification.md STATE-1
 */
export const REQUEST_STATUSES = ['pending', 'processing', 'success', 'failed'] as const;

export type RequestStatus = (typeof REQUEST_STATUSES)[number];

/** The states a relayer may ask for. */
export const REQUESTABLE_STATUSES = ['processing', 'success', 'failed'] as const;

export type RequestableStatus = (typeof REQUESTABLE_STATUSES)[number];

const moves: Readonly<Record<RequestStatus, readonly RequestStatus[]>> = {
  pending: ['processing'],
  processing: ['processing', 'success', 'failed'],
  success: [],
  failed: [],
};

/** Tells whether a record may ever move from one state to another. */
export function isStatusMove(from: RequestStatus, to: RequestStatus): boolean {
  return moves[from].includes(to);
}
