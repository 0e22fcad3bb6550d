import { isJournalFault } from '@prism-gateway/node/alerts';
import type { Journal } from '../journal/openJournal.ts';
import type { Health } from './createHealth.ts';
import { type Listener, listenBy, type Statement } from './events.ts';
import type { Log } from './logEvents.ts';

/** Reports to the health what works, what does not, and what is to be looked at. */
export function updateHealth(health: Health): Listener {
  return listenBy({
    'part-well': ({ part }) => health.recordWell(part),
    'part-failed': ({ part, reason }) => health.recordFailure(part, reason),
    'nodes-differ': ({ subject, text }) => health.warn(subject, text),
  });
}

/** How soon the log and the journal get the same again, in milliseconds. */
const TELL_EVERY_MS = 60_000;

/**
 * Makes the listener to nodes that are alone with what they say: such a node is asked only if no other answers, for a minute, and log,
 * health and status name it.
 *
 * @param ports.names - of the nodes, in their order
 * @param ports.deprioritize - has one asked only if no other answers
 * @param ports.count - counts an answer with which a node is alone
 * @see docs/specification.md NODE-4
 */
export function listenToOutliers(ports: {
  readonly names: readonly string[];
  readonly deprioritize: (node: number) => void;
  readonly health: Health;
  readonly journal: Journal;
  readonly log: Log;
  readonly count: (node: string) => void;
  readonly now: () => number;
  /** Milliseconds of a clock that is never set. */
  readonly monotonicNow: () => number;
}): Listener {
  const { names, deprioritize, health, journal, log, count, now, monotonicNow } = ports;
  const writtenAtMs = new Map<string, number>();
  return listenBy({
    'node-outlier'({ node: place, subject, says }) {
      deprioritize(place);
      const node = names[place] ?? `node ${place + 1}`;
      const key = `${node} ${subject}`;
      count(node);
      health.warn(
        key,
        `of ${subject}, ${node} says ${says}; no other bears it out: take it out of RPC_URL if it goes on`,
      );
      const nowMs = monotonicNow();
      if (nowMs - (writtenAtMs.get(key) ?? Number.NEGATIVE_INFINITY) < TELL_EVERY_MS) return;
      writtenAtMs.set(key, nowMs);
      log.warn({ subject, node, says }, 'a node is alone with that; the others are asked');
      try {
        journal.recordOutlier({ node, says: `of ${subject}, ${says}`, atMs: now() });
      } catch (error) {
        // Its own health reports it.
        if (!isJournalFault(error)) throw error;
      }
    },
  });
}

/** How long nodes may say different things before the operator is warned, in milliseconds: blocks take a moment from one to the other. */
const DISPUTE_MS = 10_000;
/** A question not asked again for this long has been answered in another way, in milliseconds. */
const FORGET_MS = 60_000;

/**
 * Makes the listener to what nodes do not agree on: the health says which says what, for as long as they do not.
 *
 * @param monotonicNow - milliseconds of a clock that is never set
 */
export function listenToDisputes(health: Health, monotonicNow: () => number): Listener {
  const open = new Map<string, { readonly sinceMs: number; readonly lastMs: number; said: readonly Statement[] }>();
  return listenBy({
    'nodes-asked'({ subject, dispute }) {
      const nowMs = monotonicNow();
      if (dispute.length === 0) open.delete(subject);
      else open.set(subject, { sinceMs: open.get(subject)?.sinceMs ?? nowMs, lastMs: nowMs, said: dispute });
      for (const [other, { lastMs }] of open) if (nowMs - lastMs > FORGET_MS) open.delete(other);
      const old = [...open].find(([, { sinceMs }]) => nowMs - sinceMs >= DISPUTE_MS);
      if (old === undefined) return health.recordWell('nodes');
      const inOrder = old[1].said.toSorted((one, other) => (one.name < other.name ? -1 : 1));
      const each = inOrder.map(({ name, says }) => `${name} says ${says}`).join('; ');
      const advice = 'one of them lies, lags or is on a branch of its own: take it out of RPC_URL, or name three nodes';
      health.recordFailure('nodes', `of ${old[0]}, ${each}; ${advice}`);
    },
  });
}
