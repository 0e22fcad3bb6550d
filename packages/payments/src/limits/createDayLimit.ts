import type { PaymentJournal } from '../journal/openPaymentJournal.ts';

/** Room under the limit of the day. */
export interface DayLimit {
  /** The day of UTC that payments count against now, like `2027-01-31`. */
  today(): string;
  /** Whether an amount fits, in stablecoin base units. */
  fits(stablecoinAmount: bigint): boolean;
  /** Keeps room while a claim is under way, so that two at once do not both fit. @returns frees it again */
  reserve(stablecoinAmount: bigint): () => void;
}

/**
 * Creates the limit of the day.
 *
 * @param parts - what is counted, the limit in stablecoin base units, and the clock in milliseconds since the epoch
 * @returns the limit
 */
export function createDayLimit(parts: {
  readonly journal: Pick<PaymentJournal, 'spentOn'>;
  readonly dailyLimit: bigint;
  readonly now: () => number;
}): DayLimit {
  const { journal, dailyLimit, now } = parts;
  let reserved = 0n;
  const today = () => new Date(now()).toISOString().slice(0, 10);
  return {
    today,
    fits: (stablecoinAmount) => journal.spentOn(today()) + reserved + stablecoinAmount <= dailyLimit,
    reserve(stablecoinAmount) {
      reserved += stablecoinAmount;
      return () => {
        reserved -= stablecoinAmount;
      };
    },
  };
}
