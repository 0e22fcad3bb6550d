import type { LeaveReason, Verdict } from '../checks/verdict.ts';
import type { Health } from './createHealth.ts';

/** What this relayer's own settings leave a request for. */
const BY_SETTINGS: ReadonlyMap<LeaveReason, string> = new Map([
  ['fee', 'CREDITS_PER_ETH and FEE_MARGIN_PERCENT'],
  ['gasPrice', 'MAX_FEE_GWEI'],
  ['action', 'ACTIONS'],
  ['sponsor', 'MAX_SPONSOR_CREDITS'],
  ['wallet', 'UNKNOWN_WALLETS'],
]);
/** So many signers make a rule; and no fewer, for one may offer too little for long. */
const MIN_SIGNERS = 3;
/** More need not be counted. */
const MAX_SIGNERS = 100;
/** How long nothing but that has been seen before the operator is told, in milliseconds: prices of gas have their moments. */
const PATIENCE_MS = 60_000;
/** From then on it is of the past, in milliseconds. */
const FORGET_MS = 3_600_000;

/** Watches whether everything is left for the same reason. */
export interface RefusalWatch {
  /** Takes in a verdict. */
  note(signer: string, verdict: Verdict): void;
  /** Tells the health. */
  look(): void;
}

/**
 * Makes the watch over what is left. Where requests of several signers are left because of one setting, and none is taken, the setting is
 * likely to be wrong: a rate in the wrong unit has every fee left as too small. Once there are customers, strangers do not count: anybody
 * may post requests that pay nothing.
 *
 * @see docs/specification.md RELAY-26
 */
export function createRefusalWatch(ports: {
  readonly health: Pick<Health, 'noteWell' | 'noteFailure'>;
  readonly isCustomer: (signer: string) => boolean;
  readonly hasCustomers: () => boolean;
  readonly now: () => number;
}): RefusalWatch {
  const { health, isCustomer, hasCustomers, now } = ports;
  const left = new Map<LeaveReason, { readonly signers: Set<string>; readonly sinceMs: number; lastMs: number }>();
  return {
    note(signer, verdict) {
      if (verdict.kind === 'ready') left.clear();
      if (verdict.kind !== 'leave' || !BY_SETTINGS.has(verdict.reason)) return;
      if (hasCustomers() && !isCustomer(signer)) return;
      const known = left.get(verdict.reason) ?? { signers: new Set(), sinceMs: now(), lastMs: now() };
      if (known.signers.size < MAX_SIGNERS) known.signers.add(signer.toLowerCase());
      known.lastMs = now();
      left.set(verdict.reason, known);
    },
    look() {
      for (const [reason, { lastMs }] of left) if (now() - lastMs > FORGET_MS) left.delete(reason);
      const [most] = [...left].toSorted(([, one], [, other]) => other.signers.size - one.signers.size);
      if (most === undefined || most[1].signers.size < MIN_SIGNERS || now() - most[1].sinceMs < PATIENCE_MS) {
        return health.noteWell('refusals');
      }
      const [reason, { signers }] = most;
      const whose = hasCustomers() ? 'customers' : 'signers';
      const text = `all requests, of ${signers.size} ${whose}, were left as \`${reason}\`: look at ${BY_SETTINGS.get(reason)}`;
      health.noteFailure('refusals', text);
    },
  };
}
