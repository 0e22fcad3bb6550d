import { type LeaveReason, ruleOf } from '../checks/leaveReasons.ts';
import type { LeftRequest } from '../journal/openEvaluationTable.ts';
import type { Health } from './createHealth.ts';
import { type Listener, listenBy } from './events.ts';

/** So many signers make a rule; and no fewer, for one may offer too little for long. */
const MIN_SIGNERS = 3;
/** More need not be counted. */
const MAX_SIGNERS = 100;
/** How long nothing but that has been seen before the operator is warned, in milliseconds: prices of gas have their moments. */
const TIMEOUT_MS = 60_000;
/** From then on it is of the past, in milliseconds. */
export const FORGET_MS = 3_600_000;

/** Watches whether everything is left for the same reason. */
export interface RefusalWatch {
  /** Takes in verdicts. */
  readonly listener: Listener;
  /** Reports to the health. */
  look(): void;
}

/**
 * Makes the watch over what is left. If requests of several signers are left because of one setting, and none is taken, the setting is
 * likely to be wrong: a rate in the wrong unit has every fee left as too small. What was left already when another one was taken says nothing of
 * the setting, however often it is looked at again. Once there are enough known payers to make a rule, untrusted signers do not count: anybody may
 * post requests that pay nothing.
 *
 * @see docs/specification.md RELAY-26
 */
export function createRefusalWatch(ports: {
  readonly health: Health;
  readonly isKnownPayer: (signer: string) => boolean;
  readonly hasKnownPayers: (count: number) => boolean;
  readonly now: () => number;
  /** Requests left before a restart: they make nothing well. */
  readonly leftBefore?: readonly LeftRequest[];
}): RefusalWatch {
  const { health, isKnownPayer, now, leftBefore = [] } = ports;
  const hasKnownPayers = () => ports.hasKnownPayers(MIN_SIGNERS);
  const left = new Map<LeaveReason, { readonly signers: Set<string>; sinceMs: number; lastMs: number }>();
  function note({ reason, signer, atMs }: LeftRequest): void {
    if (ruleOf(reason).settings === undefined || (hasKnownPayers() && !isKnownPayer(signer))) return;
    const known = left.get(reason) ?? { signers: new Set(), sinceMs: atMs, lastMs: atMs };
    if (known.signers.size < MAX_SIGNERS) known.signers.add(signer.toLowerCase());
    known.sinceMs = Math.min(known.sinceMs, atMs);
    known.lastMs = Math.max(known.lastMs, atMs);
    left.set(reason, known);
  }
  leftBefore.forEach(note);
  let takenMs = Number.NEGATIVE_INFINITY;
  return {
    listener: listenBy({
      'clock-set'({ byMs }) {
        takenMs += byMs;
        for (const one of left.values()) {
          one.sinceMs += byMs;
          one.lastMs += byMs;
        }
      },
      'request-evaluated'({ signer, verdict, sinceMs = now() }) {
        if (verdict.kind === 'ready') {
          takenMs = now();
          left.clear();
        }
        if (verdict.kind === 'leave' && sinceMs >= takenMs) note({ reason: verdict.reason, signer, atMs: now() });
      },
    }),
    look() {
      for (const [reason, { lastMs }] of left) if (now() - lastMs > FORGET_MS) left.delete(reason);
      const [most] = [...left].toSorted(([, one], [, other]) => other.signers.size - one.signers.size);
      if (most === undefined || most[1].signers.size < MIN_SIGNERS || now() - most[1].sinceMs < TIMEOUT_MS) {
        return health.recordWell('refusals');
      }
      const [reason, { signers }] = most;
      const whose = hasKnownPayers() ? 'customers' : 'signers';
      const text = `all requests, of ${signers.size} ${whose}, were left as \`${reason}\`: look at ${ruleOf(reason).settings?.join(', ')}`;
      health.recordFailure('refusals', text);
    },
  };
}
