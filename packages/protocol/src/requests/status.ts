/**
 * The states of a request: it begins as `pending`, and moves by `REQUEST_MOVES`.
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
  claim: { from: 'pending', to: ['processing'], by: 'a relayer' },
  takeOver: { from: 'processing', to: ['processing'], by: 'another relayer, after the lease' },
  renew: { from: 'processing', to: ['processing'], by: 'the holder, in a batch' },
  release: { from: 'processing', to: ['pending'], by: 'the holder, or an administrator' },
  report: { from: 'processing', to: ['success', 'failed'], by: 'the holder; `failed` also an administrator' },
  reopen: { from: 'failed', to: ['pending'], by: 'an administrator' },
} as const satisfies Record<
  string,
  { readonly from: RequestStatus; readonly to: readonly RequestStatus[]; readonly by: string }
>;

/** The name of a move. */
export type RequestMove = keyof typeof REQUEST_MOVES;

/** Whether a record may ever move from one state to another. */
export function isStatusMove(from: RequestStatus, to: RequestStatus): boolean {
  return Object.values(REQUEST_MOVES).some((move) => move.from === from && move.to.some((status) => status === to));
}
