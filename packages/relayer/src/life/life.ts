/**
 * The life of one request in a relayer.
 *
 * ```
 *          check            intention journalled          PATCH won             call journalled           event deep enough        PATCH answered
 *  seen ─────────▶ checked ──────────────────────▶ claiming ───────▶ claimed ──────────────────▶ submitted ───────────────▶ mined ────────────────▶ reported
 *   │ ▲               │                               │                │  ▲                         │                         ▲  │
 *   │ └─ look again ──┤                               │ 409            │  └── nothing on the chain ──┘                         │  └─▶ lost (409: another's claim)
 *   ▼                 ▼                               ▼                └──── hopeless, or executed already ───────────────────┘
 *  left ──▶ seen     left                            lost
 * ```
 *
 * - `seen`: it stood in a page of pending requests.
 * - `checked`: action, policy, simulated outcome and fee are fine, or it is hopeless and is to be reported failed.
 * - `left`: for others, or for later; looked at again when its time has come.
 * - `claiming`: the journal holds the intention; whether the gateway has given the claim is not known yet.
 * - `claimed`: it is this relayer's, and nothing of it may be on the chain by this relayer's hand.
 * - `submitted`: the journal holds the call and the sender's intent; from here on only the chain says what became of it.
 * - `mined`: the outcome is known and journalled: a transaction with the Forwarder's event, or a reason.
 * - `reported`: the gateway knows the outcome; the end.
 * - `lost`: another relayer has it; the end.
 *
 * `seen`, `checked` and `left` are only in memory: whoever starts again looks again.
 */
const MOVES = {
  seen: ['checked', 'left'],
  left: ['seen'],
  checked: ['seen', 'left', 'claiming'],
  claiming: ['claimed', 'lost'],
  claimed: ['submitted', 'mined', 'lost'],
  submitted: ['mined', 'claimed'],
  mined: ['reported', 'lost'],
  reported: [],
  lost: [],
} as const satisfies Record<string, readonly string[]>;

/** Where a request stands in a relayer. */
export type LifeState = keyof typeof MOVES;

/** The states that the journal holds until there is nothing left to do. */
export type OpenState = 'claiming' | 'claimed' | 'submitted' | 'mined';

/**
 * Asserts that a request may go from one state to another.
 *
 * @throws TypeError for a move that the machine does not have: a defect of the relayer, before anything is changed
 */
export function assertMove(move: {
  readonly requestId: string;
  readonly from: LifeState;
  readonly to: LifeState;
}): void {
  const allowed: readonly LifeState[] = MOVES[move.from];
  if (allowed.includes(move.to)) return;
  throw new TypeError(`request ${move.requestId} cannot go from ${move.from} to ${move.to}`);
}
