import { isJournalFault } from '@prism-gateway/node/alerts';
import { explainError } from '../explainError.ts';
import { admitPayment } from '../flow/admitPayment.ts';
import { drivePayment } from '../flow/drivePayment.ts';
import type { PayerContext } from '../flow/payerContext.ts';
import type { ListedPayment } from '../frontend/checkListing.ts';

/** The payments that an instance works at; each of them once at a time. */
export interface Underway {
  has(paymentIntentId: string): boolean;
  /** Whether a payment that was worked at has rested since. */
  isRested(paymentIntentId: string): boolean;
  /** Sets what is begun next, in place of what was set before and is not begun. */
  offer(payments: readonly ListedPayment[]): void;
  /** Begins what was offered, in its order, as far as there is room; the rest follows as others end. */
  begin(): void;
  /** Works at a payment, whether there is room or not. `onPaid` frees its place while the frontend is notified. */
  follow(paymentIntentId: string, work: (onPaid: () => void) => Promise<void>): void;
  /** Ends once all that was offered is begun, and there is room, or nothing is begun any more. */
  waitForRoom(): Promise<void>;
  /** Begins nothing any more. */
  stop(): void;
  /** Ends once nothing is worked at. */
  idle(): Promise<void>;
}

/** Most payments under way while a frontend takes no completion; beyond it nothing is begun. */
const MAX_ACTIVE = 1000;

/**
 * Makes the place for the payments that are under way: at most `maxInFlight` of those that are offered and not paid.
 *
 * @param options.onJournalFault - called with the reason why a payment could not be written down
 */
export function createUnderway(
  context: PayerContext,
  { onJournalFault }: { readonly onJournalFault: (error: unknown) => void },
): Underway {
  const { config, log, signal, monotonicNow } = context;
  const active = new Map<string, Promise<void>>();
  /** Those of them that wait for the frontend alone. */
  const paid = new Set<string>();
  const restsUntilMs = new Map<string, number>();
  let offered: ListedPayment[] = [];
  let isStopped = false;
  let room = Promise.withResolvers<void>();

  const hasPlace = () => active.size - paid.size < config.maxInFlight && active.size < MAX_ACTIVE;
  const hasRoom = () => isStopped || (offered.length === 0 && hasPlace());

  function follow(paymentIntentId: string, work: (onPaid: () => void) => Promise<void>): void {
    const free = () => {
      paid.add(paymentIntentId);
      begin();
    };
    const done = work(free)
      .catch((error: unknown) => {
        if (signal.aborted) return;
        log.warn({ paymentIntentId, reason: explainError(error) }, 'not taken up');
        if (isJournalFault(error)) onJournalFault(error);
      })
      .finally(() => {
        active.delete(paymentIntentId);
        paid.delete(paymentIntentId);
        restsUntilMs.set(paymentIntentId, monotonicNow() + config.retryDelayMs);
        begin();
      });
    active.set(paymentIntentId, done);
  }

  function begin(): void {
    while (!isStopped && !signal.aborted && hasPlace()) {
      const listed = offered.shift();
      if (listed === undefined) break;
      const { paymentIntentId: id } = listed;
      if (active.has(id)) continue;
      follow(id, async (onPaid) => {
        if (await admitPayment(context, listed)) await drivePayment(context, id, onPaid);
      });
    }
    if (hasRoom()) room.resolve();
  }

  return {
    has: (id) => active.has(id),
    isRested: (id) => (restsUntilMs.get(id) ?? 0) <= monotonicNow(),
    offer(payments) {
      for (const [id, untilMs] of restsUntilMs) if (untilMs <= monotonicNow()) restsUntilMs.delete(id);
      offered = isStopped ? [] : [...payments];
    },
    begin,
    follow,
    async waitForRoom() {
      if (hasRoom()) return;
      room = Promise.withResolvers();
      await room.promise;
    },
    stop() {
      isStopped = true;
      offered = [];
      room.resolve();
    },
    async idle() {
      while (active.size > 0) await Promise.all(active.values());
    },
  };
}
