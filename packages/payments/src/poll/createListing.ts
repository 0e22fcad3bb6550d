import { refusedFact, refusePayment } from '../flow/refusePayment.ts';
import type { RelayerContext } from '../flow/relayerContext.ts';
import { checkListing, type ListedPayment, type ListingFault } from '../payments/checkListing.ts';

/** Entries of a listing that are looked at; the frontend lists the oldest first, and the others when these are done. */
const MAX_ENTRIES = 5000;

/** What the frontend lists. */
export interface Listing {
  /**
   * Takes a listing: what is unfit is refused for good, and the journal learns what is new, and what is listed no more.
   *
   * @param entries - as the frontend sent them
   * @returns those that are fit
   */
  take(entries: readonly unknown[]): readonly ListedPayment[];
  /** What was fit of the last one. */
  last(): readonly ListedPayment[];
}

/**
 * Makes the memory of what is listed.
 *
 * @param context - the instance
 * @see docs/specification.md FRONT-1
 */
export function createListing(context: RelayerContext): Listing {
  const { config, journal } = context;
  const { exchange, creditToken, stablecoin, payouts, self, others } = config;
  const forbidden = [exchange, creditToken, stablecoin, self, ...others, ...(payouts === undefined ? [] : [payouts])];
  let last: readonly ListedPayment[] = [];

  const isRefused = (id: string) => journal.fact(refusedFact(id)) !== undefined;

  /** Of a listing that is too long, not what is refused already, so that junk keeps nothing back. */
  function selectEntries(entries: readonly unknown[]): readonly unknown[] {
    if (entries.length <= MAX_ENTRIES) return entries;
    const isOpen = (entry: unknown) => {
      const id = (entry as { readonly paymentIntentId?: unknown } | null)?.paymentIntentId;
      return typeof id === 'string' && !isRefused(id);
    };
    return entries.filter(isOpen).slice(0, MAX_ENTRIES);
  }

  /** Refuses what is unfit, in one commit: a listing may be full of it. */
  function refuseAll(faults: readonly ListingFault[]): void {
    if (faults.length === 0) return;
    journal.commit(() => {
      for (const fault of faults) refusePayment(context, fault);
    });
  }

  /** Writes down what is listed for the first time, so that its age is known whatever happens, and what is listed no more. */
  function note(payments: readonly ListedPayment[]): void {
    const ids = new Set(payments.map(({ paymentIntentId }) => paymentIntentId));
    const added = payments.filter(({ paymentIntentId: id }) => journal.get(id) === undefined && !isRefused(id));
    const gone = journal.listWaiting().filter(({ paymentIntentId }) => !ids.has(paymentIntentId));
    const before = new Set(last.map(({ paymentIntentId }) => paymentIntentId));
    const back = [...ids].filter((id) => !before.has(id));
    last = payments;
    if (added.length + gone.length + back.length === 0) return;
    journal.commit(() => {
      for (const listed of added) journal.add(listed);
      for (const { paymentIntentId } of gone) journal.setListed(paymentIntentId, false);
      for (const id of back) journal.setListed(id, true);
    });
  }

  return {
    take(entries) {
      const { payments, faults } = checkListing(selectEntries(entries), forbidden);
      refuseAll(faults);
      note(payments);
      return payments;
    },
    last: () => last,
  };
}
