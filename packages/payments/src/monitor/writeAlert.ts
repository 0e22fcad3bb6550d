import type { Alert } from '@prism-gateway/alerts';
import type { Telling } from './condition.ts';

/** What is watched of an account or a chain. */
export type WatchKind = 'GAS_BALANCE' | 'STABLECOIN_BALANCE' | 'APPROVAL' | 'RPC';

/** A reading in words. */
export interface Watched {
  readonly kind: WatchKind;
  /** Like `0xabc… on base`. */
  readonly where: string;
  /** What was read, what it should be, and how long it lasts. */
  readonly text: string;
}

const WORDS: Readonly<Record<WatchKind, { readonly bad: string; readonly well: string }>> = {
  GAS_BALANCE: { bad: 'Gas balance low', well: 'Gas balance is well again' },
  STABLECOIN_BALANCE: { bad: 'Stablecoin balance low', well: 'Stablecoin balance is well again' },
  APPROVAL: { bad: 'The Exchange is not approved any more', well: 'The Exchange is approved again' },
  RPC: { bad: 'A node does not answer', well: 'A node answers again' },
};

/**
 * Writes what people are told.
 *
 * @param watched - the reading
 * @param telling - whether it is new, a reminder, or over
 * @returns the alert
 */
export function writeAlert(watched: Watched, telling: Telling): Alert {
  const { kind, where, text } = watched;
  const { bad, well } = WORDS[kind];
  if (telling === 'recovery')
    return { code: `${kind}_RECOVERED`, severity: 'info', subject: `${well}: ${where}`, text };
  const subject = telling === 'reminder' ? `Reminder: ${bad.toLowerCase()}: ${where}` : `${bad}: ${where}`;
  return {
    code: kind === 'RPC' ? 'RPC_UNREACHABLE' : `${kind}_LOW`,
    severity: 'critical',
    subject,
    text,
  };
}
