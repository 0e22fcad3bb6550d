/**
 * The states of a request and the moves between them:
 *
 *     (none) --create--> pending --claim--> processing --report--> success | failed
 *                                           processing --takeOver (lease lapsed)--> processing
 *                                           processing --renew (its owner, in a batch)--> processing
 *                                           processing --release (its owner)--> pending
 *
 * @see docs/specification.md STATE-1
 */
export const REQUEST_STATUSES = ['pending', 'processing', 'success', 'failed'] as const;

export type RequestStatus = (typeof REQUEST_STATUSES)[number];

/** The states a relayer may ask for. */
export const REQUESTABLE_STATUSES = ['processing', 'success', 'failed'] as const;

export type RequestableStatus = (typeof REQUESTABLE_STATUSES)[number];

/** The state in which every request begins. */
export const INITIAL_STATUS = 'pending' satisfies RequestStatus;

/** The one table of moves: every store writes its conditions from it. */
export const REQUEST_MOVES = {
  claim: { from: 'pending', to: ['processing'] },
  takeOver: { from: 'processing', to: ['processing'] },
  renew: { from: 'processing', to: ['processing'] },
  release: { from: 'processing', to: ['pending'] },
  report: { from: 'processing', to: ['success', 'failed'] },
} as const satisfies Record<string, { readonly from: RequestStatus; readonly to: readonly RequestStatus[] }>;

/** The name of a move. */
export type RequestMove = keyof typeof REQUEST_MOVES;

/** Tells whether a record may ever move from one state to another. */
export function isStatusMove(from: RequestStatus, to: RequestStatus): boolean {
  return Object.values(REQUEST_MOVES).some((move) => move.from === from && move.to.some((status) => status === to));
}
