/**
 * The life of one request in a relayer: its states, its moves, and which file may make each of them.
 *
 * ```
 *          check            intention journalled          claim won             call journalled           event deep enough        report answered
 *  seen ─────────▶ checked ──────────────────────▶ claiming ───────▶ claimed ──────────────────▶ submitted ───────────────▶ mined ────────────────▶ reported
 *   │ ▲               │                               │                │  ▲                         │                         ▲  │
 *   │ └─ look again ──┘                               │ 409            │  └── nothing on the chain ──┘                         │  └─▶ lost (409: another's claim)
 *   ▼                                                 ▼                └──── hopeless, or executed already ───────────────────┘
 *  left ──▶ seen                                     lost
 * ```
 *
 * - `seen`: the gateway has shown it as pending.
 * - `checked`: action, policy, simulated outcome and fee are fine, or it is hopeless and is to be reported failed.
 * - `left`: for others, or for later; looked at again when its time has come.
 * - `claiming`: the journal holds the intention; whether the gateway has given the claim is not known yet.
 * - `claimed`: it is this relayer's, and nothing of it may be on the chain by this relayer's hand.
 * - `submitted`: the journal holds the call and the sender's intent; from here on only the chain says what became of it.
 * - `mined`: the outcome is known and journalled: a transaction with the Forwarder's event, or a reason.
 * - `reported`: the gateway knows the outcome; the end.
 * - `lost`: another relayer has it, or may have it: it was given back; the end.
 *
 * `seen`, `checked` and `left` are in memory, and the verdict that led to them in the journal; whoever starts again looks again. The
 * others are the journal's: `advanceRequests` hands a request to the one file that moves it on from where the journal has it.
 */
export const MOVES = {
  seen: { checked: ['judgeRequests'], left: ['judgeRequests'], claimed: ['adoptClaims'] },
  left: { seen: ['judgeRequests'] },
  checked: { seen: ['judgeRequests'], claiming: ['claimRequests', 'takeOverStale'] },
  claiming: { claimed: ['claimRequests', 'confirmClaim'], lost: ['claimRequests', 'takeOverStale', 'confirmClaim'] },
  claimed: { submitted: ['submitClaims'], mined: ['reviewClaim'], lost: ['confirmClaim', 'reviewClaim'] },
  submitted: { mined: ['settleSubmission'], claimed: ['settleSubmission'] },
  mined: { reported: ['reportOutcomes'], lost: ['reportOutcomes'] },
  reported: {},
  lost: {},
} as const satisfies Record<string, Readonly<Record<string, readonly string[]>>>;

/** Where a request stands in a relayer. */
export type LifeState = keyof typeof MOVES;

/** The states that the journal holds until there is nothing left to do. */
export type OpenState = 'claiming' | 'claimed' | 'submitted' | 'mined';

/** The file that takes a request on from each of them, unless something is in the way: `advanceRequests` hands it over. */
export const NEXT = {
  claiming: 'confirmClaim',
  claimed: 'submitClaims',
  submitted: 'followSubmission',
  mined: 'reportOutcomes',
} as const satisfies Record<OpenState, string>;

/** Who moves requests: a file of this folder, by its name. */
export type Mover =
  | 'judgeRequests'
  | 'claimRequests'
  | 'takeOverStale'
  | 'adoptClaims'
  | 'confirmClaim'
  | 'submitClaims'
  | 'reviewClaim'
  | 'settleSubmission'
  | 'reportOutcomes';

/** A move that somebody is about to make. */
interface Move {
  readonly requestId: string;
  readonly from: LifeState;
  readonly to: LifeState;
  readonly by: Mover;
}

/**
 * Asserts that a request may go from one state to another by somebody's hand.
 *
 * @throws TypeError for a move that the table does not have: a defect of the relayer, before anything is changed
 */
export function assertMove({ requestId, from, to, by }: Move): void {
  const movers: Readonly<Record<string, readonly string[]>> = MOVES[from];
  if (movers[to]?.includes(by)) return;
  throw new TypeError(`request ${requestId} cannot go from ${from} to ${to} by ${by}`);
}
