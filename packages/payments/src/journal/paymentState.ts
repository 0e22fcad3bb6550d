/**
 * The states of a payment, as one instance sees it.
 *
 * ```
 *                    claim            buy           mined           journal, then send     2 blocks       frontend notified
 *   seen ────────────▶ claimed ─────────▶ buying ─────▶ bought ──────────▶ transferring ──────▶ transferred ──────▶ completed
 *    │ ▲                 │ ╲ credits in hand            ▲  │                 │    │                 ▲
 *    │ │ limit raised    │  ╲───────────────────────────╯  │                 │    │ proven void     │
 *    ▼ │                 │                                 │                 │    ╰──▶ claimed      │
 *   held ◀───────────────┼─────────────────────────────────┼─────────────────╯ outcome unknown      │
 *    │                   │  it is on the chain already: another's payout, or one of before          │
 *    │                   ├─────────────────────────────────┴────────────────────────────────────────╯
 *    │                   ▼
 *    ╰─ operator ─▶ given back ──▶ claimed (claimed again, by this instance or any other)
 *
 *   completed, held ──▶ vanished ──▶ transferred (on the chain again: the same payout, or another's)
 *                        │   ▲
 *                        ▼   │ instead of `given back`, for the frontend lists it no more
 *                       claimed (the payout can never be mined again)
 *
 *   seen, held, given back, claimed, bought ──▶ refused   (data that can never be right)
 *   seen, held, given back, refused ──▶ closed            (a person: the card was refunded)
 * ```
 *
 * - `seen`: listed by the frontend and fit to be paid; not claimed.
 * - `claimed`: the frontend said 200 to this instance's claim; what is owed is fixed.
 * - `buying`: a buy is journalled and may be on the chain.
 * - `bought`: the credits are in hand and set aside for it.
 * - `transferring`: a payout is journalled and may be on the chain, now or ever.
 * - `transferred`: a payout is mined and two blocks deep: this instance's, or another's.
 * - `completed`: the frontend knows; the end, unless a reorganisation undoes the payout.
 * - `vanished`: its payout was on the chain, and is no longer; it comes back, or is made anew.
 * - `given back`: this instance does nothing for it, and nothing that it did can still pay it.
 * - `held`: over a limit, or with an outcome that nobody here can know; a person decides.
 * - `closed`: its money went back to the card, as a person says; never paid; the end.
 * - `refused`: never to be paid as it was listed; the end, unless a person says otherwise.
 */
export const PAYMENT_STATES = [
  'seen',
  'claimed',
  'buying',
  'bought',
  'transferring',
  'transferred',
  'completed',
  'vanished',
  'given back',
  'held',
  'refused',
  'closed',
] as const;

/** Where a payment stands. */
export type PaymentState = (typeof PAYMENT_STATES)[number];

const MOVES: Readonly<Record<PaymentState, readonly PaymentState[]>> = {
  seen: ['claimed', 'held', 'refused', 'closed'],
  claimed: ['buying', 'bought', 'transferred', 'vanished', 'given back', 'held', 'refused'],
  buying: ['claimed', 'bought', 'given back', 'held'],
  bought: ['buying', 'transferring', 'transferred', 'vanished', 'given back', 'held', 'refused'],
  transferring: ['transferred', 'claimed', 'vanished', 'given back', 'held'],
  transferred: ['completed', 'held'],
  completed: ['vanished'],
  vanished: ['claimed', 'transferred', 'held'],
  'given back': ['claimed', 'held', 'refused', 'closed'],
  held: ['seen', 'given back', 'transferred', 'vanished', 'refused', 'closed'],
  refused: ['seen', 'closed'],
  closed: [],
};

/** States in which this instance owes the payment, so that its credits are nobody else's. */
export const OWING_STATES: readonly PaymentState[] = ['claimed', 'buying', 'bought', 'transferring'];

/** States in which this instance has something to do. */
export const OPEN_STATES: readonly PaymentState[] = [...OWING_STATES, 'transferred', 'vanished'];

/** A move that the machine does not have: a defect of the program. */
export class PaymentMoveError extends Error {
  override readonly name = 'PaymentMoveError';
  readonly code = 'PAYMENT_MOVE_INVALID';

  constructor(move: { readonly paymentIntentId: string; readonly from: PaymentState; readonly to: PaymentState }) {
    super(`Payment ${move.paymentIntentId} cannot go from ${move.from} to ${move.to}.`);
  }
}

/**
 * Asserts that the machine has a move.
 *
 * @param move - which payment goes from where to where
 * @throws PaymentMoveError `PAYMENT_MOVE_INVALID`
 */
export function assertMove(move: {
  readonly paymentIntentId: string;
  readonly from: PaymentState;
  readonly to: PaymentState;
}): void {
  if (!MOVES[move.from].includes(move.to)) throw new PaymentMoveError(move);
}
