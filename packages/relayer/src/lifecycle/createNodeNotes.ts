import { isJournalFault } from '@prism-gateway/alerts';
import type { Journal } from '../journal/openJournal.ts';
import type { Health } from './createHealth.ts';

/** How soon the log and the journal are told of the same again, in milliseconds. */
const TELL_EVERY_MS = 60_000;

/** What a node is alone with. */
export interface LoneWord {
  /** What it is about, the same each time: like `a simulation`. */
  readonly subject: string;
  /** Goes on a sentence that begins with "says". */
  readonly says: string;
}

/** Notes that a node is alone with what it says. @param node - its place among those that are asked, from 0 */
export type NoteAlone = (node: number, word: LoneWord) => void;

/**
 * Makes the notes of nodes that are alone with what they say: such a node is asked only where no other answers, for a minute, and log, health
 * and status name it.
 *
 * @param ports.names - of the nodes, in their order
 * @param ports.distrust - has one asked only where no other answers
 * @see docs/specification.md NODE-4
 */
export function createNodeNotes(ports: {
  readonly names: readonly string[];
  readonly distrust: (node: number) => void;
  readonly health: Pick<Health, 'warn'>;
  readonly journal: Pick<Journal, 'noteOutvoted'>;
  readonly log: { warn(facts: object, message: string): void };
  /** Counts an answer with which a node is alone. */
  readonly count: (node: string) => void;
  readonly now: () => number;
}): NoteAlone {
  const { names, distrust, health, journal, log, count, now } = ports;
  const toldAtMs = new Map<string, number>();
  return function noteAlone(place, { subject, says }) {
    distrust(place);
    const node = names[place] ?? `node ${place + 1}`;
    const key = `${node} ${subject}`;
    count(node);
    health.warn(
      key,
      `of ${subject}, ${node} says ${says}; no other bears it out: take it out of RPC_URL if it goes on`,
    );
    const atMs = now();
    if (atMs - (toldAtMs.get(key) ?? Number.NEGATIVE_INFINITY) < TELL_EVERY_MS) return;
    toldAtMs.set(key, atMs);
    log.warn({ subject, node, says }, 'a node is alone with that; the others are asked');
    try {
      journal.noteOutvoted({ node, says: `of ${subject}, ${says}`, atMs });
    } catch (error) {
      // Its own health tells of it.
      if (!isJournalFault(error)) throw error;
    }
  };
}

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
