import type { Health } from './createHealth.ts';

/** How long nodes may say different things before the operator is told, in milliseconds: blocks take a moment from one to the other. */
const DISPUTE_MS = 10_000;
/** What has not been asked again for longer is settled in some other way, in milliseconds. */
const FORGET_MS = 60_000;

/** What a node says. */
export interface Statement {
  /** What the node is called. */
  readonly name: string;
  readonly says: string;
}

/** Notes what nodes say of something. @param said - by those that answered; none: they agree */
export type NoteDispute = (subject: string, said: readonly Statement[]) => void;

/**
 * Makes the memory of what nodes do not agree on, which tells the operator which node says what, for as long as they do not.
 *
 * @param options.health - told under `nodes`
 * @param options.now - Unix time in milliseconds
 */
export function createDisputes({
  health,
  now,
}: {
  readonly health: Pick<Health, 'noteWell' | 'noteFailure'>;
  readonly now: () => number;
}): NoteDispute {
  const open = new Map<string, { readonly sinceMs: number; readonly lastMs: number; said: readonly Statement[] }>();
  return function noteDispute(subject, said) {
    const nowMs = now();
    if (said.length === 0) open.delete(subject);
    else open.set(subject, { sinceMs: open.get(subject)?.sinceMs ?? nowMs, lastMs: nowMs, said });
    for (const [other, { lastMs }] of open) if (nowMs - lastMs > FORGET_MS) open.delete(other);
    const old = [...open].find(([, { sinceMs }]) => nowMs - sinceMs >= DISPUTE_MS);
    if (old === undefined) return health.noteWell('nodes');
    const inOrder = old[1].said.toSorted((one, other) => (one.name < other.name ? -1 : 1));
    const each = inOrder.map(({ name, says }) => `${name} says ${says}`).join('; ');
    const advice = 'one of them lies, lags or is on a branch of its own: take it out of RPC_URL, or name three nodes';
    health.noteFailure('nodes', `of ${old[0]}, ${each}; ${advice}`);
  };
}
