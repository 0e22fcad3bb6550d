/**
 * The states of an intent.
 *
 * ```
 *           reserve: nonce + signed bytes            accepted by a node
 *  queued ───────────────────────────▶ signed ──────────────────────▶ broadcast
 *    ▲                                   │  ╲ refused for good           │  ╲ refused for good
 *    │ old nonce proven consumed         │   ▼                           │   ▼
 *    │ by a foreign transaction at depth │  cancelling ◀─────────────────┼─ cancelling
 *    │                                   │      │                        │
 *    │        nonce passed, no receipt   ▼      ▼   receipt of a version ▼
 *  displaced ◀──────────────────────── (any of the three) ─────────────▶ mined ──▶ confirmed   (a version of the call)
 *    │                                                                     │  ╲──▶ abandoned   (the cancel)
 *    └─▶ mined | broadcast | cancelling | abandoned                         └─▶ broadcast | cancelling (reorg)
 * ```
 *
 * - `queued`: accepted, without a nonce: waits for fees under the ceiling, or for room among those in flight.
 * - `signed`: the journal holds its account nonce and signed bytes; whether a node has them is not known.
 * - `broadcast`: a node has taken a version.
 * - `cancelling`: the node refused it for good; a self-transfer on the same nonce frees the nonce. A version of the call may still win.
 * - `displaced`: the chain's account nonce has passed it, and none of its versions has a receipt.
 * - `mined`: a version is in a block, not deep enough yet.
 * - `confirmed`: the call is mined and deep enough; the end.
 * - `abandoned`: its nonce is consumed by something else, deep enough, and it will never be sent; the end.
 */
export const INTENT_STATES = [
  'queued',
  'signed',
  'broadcast',
  'cancelling',
  'displaced',
  'mined',
  'confirmed',
  'abandoned',
] as const;

/** Where an intent stands. */
export type IntentState = (typeof INTENT_STATES)[number];

const MOVES: Readonly<Record<IntentState, readonly IntentState[]>> = {
  queued: ['signed'],
  signed: ['broadcast', 'cancelling', 'displaced', 'mined'],
  broadcast: ['cancelling', 'displaced', 'mined'],
  cancelling: ['displaced', 'mined'],
  displaced: ['broadcast', 'cancelling', 'mined', 'queued', 'abandoned'],
  mined: ['broadcast', 'cancelling', 'confirmed', 'abandoned'],
  confirmed: [],
  abandoned: [],
};

/** States that nothing follows. */
export const FINAL_STATES: readonly IntentState[] = INTENT_STATES.filter((state) => MOVES[state].length === 0);

/** States that hold an account nonce which no version is known to have been mined on. */
export const UNMINED_STATES: readonly IntentState[] = ['signed', 'broadcast', 'cancelling', 'displaced'];

/**
 * Moves an intent to a state; a move that the machine does not have is a defect, and throws before anything changes.
 *
 * @param intent - changed in place
 * @throws TypeError for a move that is not in the machine
 */
export function moveIntent(intent: { intentId: string; state: IntentState }, to: IntentState): void {
  if (!MOVES[intent.state].includes(to)) {
    throw new TypeError(`intent ${intent.intentId} cannot go from ${intent.state} to ${to}`);
  }
  intent.state = to;
}
