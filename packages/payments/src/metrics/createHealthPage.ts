import type { PageMaker } from '@prism-gateway/node';
import { KEY_FACTS } from '../chain/createKeyWatch.ts';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import { BROKEN_FACT } from '../readiness/createReadiness.ts';

/** The sources of the health. */
export interface HealthParts {
  readonly journal: Pick<PaymentJournal, 'fact'> & {
    readonly outbox: Pick<PaymentJournal['outbox'], 'listConditions'>;
  };
  /** When the last poll went through, on a clock that is never set, in milliseconds. */
  readonly polledAtMs: () => number;
  /** Whether the journal cannot be written. */
  readonly isJournalFailing: () => boolean;
  readonly pollIntervalMs: number;
  /** Milliseconds of a clock that is never set. */
  readonly monotonicNow: () => number;
}

/** Conditions that end by themselves. */
const WAITS: readonly string[] = ['GAS_PRICE_TOO_HIGH'];
/** Two polls, and what they may take: nothing goes through that hangs. */
const MAX_POLLS = 2;
const GRACE_MS = 5000;

function listFaults(parts: HealthParts): readonly string[] {
  const { journal, polledAtMs, pollIntervalMs, monotonicNow } = parts;
  const silentMs = monotonicNow() - polledAtMs();
  return [
    ...(silentMs > MAX_POLLS * pollIntervalMs + GRACE_MS
      ? [`No poll has gone through for ${Math.floor(silentMs / 1000)} seconds.`]
      : []),
    ...(parts.isJournalFailing() ? ['The journal cannot be written.'] : []),
    ...[journal.fact(KEY_FACTS.evidence), journal.fact(BROKEN_FACT)].filter((reason) => reason !== undefined),
    ...journal.outbox
      .listConditions()
      .filter((name) => !WAITS.includes(name))
      .map((name) => `${name} is raised, and is not over.`),
  ];
}

/** Makes the page `/health`: 200 while all goes on, and 503 with a line for each thing that waits for an operator. */
export function createHealthPage(parts: HealthParts): PageMaker {
  return () => {
    const faults = listFaults(parts);
    return faults.length === 0 ? { body: 'ok\n' } : { status: 503, body: `${faults.join('\n')}\n` };
  };
}
