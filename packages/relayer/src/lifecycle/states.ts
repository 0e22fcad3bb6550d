import { hash } from 'node:crypto';
import type { RequestRecord } from '@prism-gateway/protocol';
import type { Hex } from 'viem';

/**
 * The life of one request in a relayer: its states, its moves, and which function may make each of them.
 *
 * ```
 *          check            intention journalled          claim won             call journalled           event deep enough        report answered
 *  seen ─────────▶ checked ──────────────────────▶ claiming ───────▶ claimed ──────────────────▶ submitted ───────────────▶ finalized ────────────▶ reported
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
 * - `finalized`: the outcome is known and journalled: a transaction with the Forwarder's event, or a reason. A reorganisation that undoes it before
 *   it is reported makes it `claimed` again.
 * - `reported`: the gateway knows the outcome; the end.
 * - `lost`: another relayer has it, or may have it: it was given back; the end.
 *
 * `seen`, `checked` and `left` are in memory, and the verdict that led to them in the journal; whoever starts again looks again. The
 * others are the journal's: `advanceRequests` hands a request to the one step that moves it on from where the journal has it.
 */
export const MOVES = {
  seen: { checked: ['evaluateRequests'], left: ['evaluateRequests'], claimed: ['adoptClaims'] },
  left: { seen: ['evaluateRequests'] },
  checked: { seen: ['evaluateRequests'], claiming: ['claimRequests', 'takeOverStale'] },
  claiming: { claimed: ['claimRequests', 'confirmClaim'], lost: ['claimRequests', 'takeOverStale', 'confirmClaim'] },
  claimed: { submitted: ['submitClaims'], finalized: ['reviewClaim'], lost: ['confirmClaim', 'reviewClaim'] },
  submitted: { finalized: ['finalizeSubmission'], claimed: ['finalizeSubmission'] },
  finalized: { reported: ['reportOutcomes'], lost: ['reportOutcomes'], claimed: ['reportOutcomes'] },
  reported: {},
  lost: {},
} as const satisfies Record<string, Readonly<Record<string, readonly string[]>>>;

/** Where a request stands in a relayer. */
export type LifeState = keyof typeof MOVES;

/** The states that the journal holds until there is nothing left to do. */
export type OpenState = 'claiming' | 'claimed' | 'submitted' | 'finalized';

/** Who moves requests: a function of this folder, by its name. */
export type Mover =
  | 'evaluateRequests'
  | 'claimRequests'
  | 'takeOverStale'
  | 'adoptClaims'
  | 'confirmClaim'
  | 'submitClaims'
  | 'reviewClaim'
  | 'finalizeSubmission'
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

/** How a request ended, as it is reported. */
export type Outcome =
  | { readonly status: 'success'; readonly txHash: Hex }
  | { readonly status: 'failed'; readonly errorMessage: string };

/** A request whose outcome is known. */
export interface Ended {
  readonly requestId: string;
  readonly outcome: Outcome;
}

/** The identity of one user's signed request on the chain; a multi-user batch has several. */
export interface SignatureRef {
  /** In lower case. */
  readonly signer: Hex;
  /** The forwarder nonce it was signed for; undefined if no nonce near the signer's fits. */
  readonly nonce: bigint | undefined;
  /** The halves of the signature, in lower case: they stand in the calldata of whatever transaction carries it. */
  readonly r: Hex;
  readonly s: Hex;
  /** Of a contract wallet that vouches for it: the hash of its code. @see readWallet */
  readonly code?: Hex;
}

/** The fields of a request that its relayer needs. */
export type RelayedRecord = Pick<RequestRecord, 'requestId' | 'action' | 'signer' | 'params' | 'createdAt'>;

/** The fields that hold a request's signatures, and what they sign. */
export type SignedRecord = Pick<RelayedRecord, 'action' | 'params'>;

/** A request that this relayer has claimed, or is about to. */
export interface OpenRequest {
  readonly requestId: string;
  readonly state: OpenState;
  readonly record: RelayedRecord;
  readonly signatures: readonly SignatureRef[];
  /** Gas of its single transaction, estimated when it was checked; undefined if nothing is to be sent. */
  readonly gas: bigint | undefined;
  /** The sender's intent, once `submitted`. */
  readonly intentId: string | undefined;
  /** How often it has been handed to the sender, in earlier claims, too. */
  readonly attempts: number;
  /** Once `finalized`. */
  readonly outcome: Outcome | undefined;
  /** Unix time in milliseconds. */
  readonly claimedAtMs: number;
}

/** A request as it enters the journal. */
export type BegunRequest = Omit<OpenRequest, 'state' | 'intentId' | 'outcome' | 'attempts'>;

/** A call handed to the sender, which may carry several requests. */
export interface Submission {
  readonly intentId: string;
  readonly to: Hex;
  readonly data: Hex;
  readonly gasLimit: bigint;
  /** The most that any version of it may offer for a unit of gas, in wei: what the fees are worth. */
  readonly maxFeePerGas: bigint | undefined;
  /** When the lease of its oldest claim is over, in Unix milliseconds; undefined if claims do not lapse. */
  readonly expiresAtMs: number | undefined;
  readonly requestIds: readonly string[];
}

/** Takes the fingerprint of what a request asks for, signature and all: it is the same in each duplicate of a request. */
export function hashRequest({ action, params }: SignedRecord): string {
  // Letter case says nothing in hex.
  return hash('sha1', JSON.stringify([action, params]).toLowerCase(), 'base64');
}
