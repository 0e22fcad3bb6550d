import type { Address, PublicClient } from 'viem';
import { payoutIdOf } from '../chain/calls.ts';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';

/** Amounts that count against the limits of a day. */
export interface Spent {
  /** Base units. */
  readonly stablecoins: bigint;
  /** Base units. */
  readonly credits: bigint;
}

/** Room under the limits of the day. */
export interface DayLimit {
  /** The day of UTC that payments count against now, like `2027-01-31`. */
  today(): string;
  /** Which limit an amount goes beyond; undefined: none. */
  findExceeded(amount: Spent): 'DAILY_LIMIT' | 'DAILY_CREDIT_LIMIT' | undefined;
  /** Keeps room while a claim is under way, so that two at once do not both fit. @returns frees it again */
  reserve(amount: Spent): () => void;
  /** Amounts of today, of this journal and of one that was lost. */
  spent(): Spent;
  /**
   * Counts what this address has paid out today and the journal does not know, so that a lost disk lifts no limit.
   *
   * @throws viem's errors
   */
  recount(): Promise<void>;
}

/** The sources of the day's limit. */
export interface DayLimitParts {
  readonly journal: PaymentJournal;
  readonly client: PublicClient;
  readonly self: Address;
  readonly dailyLimit: bigint;
  /** Credit base units. */
  readonly dailyCreditLimit: bigint;
  /** Credit base units for one stablecoin base unit: what a payout of a lost journal counts in stablecoins. */
  readonly creditsPerUnit: bigint;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Names the journal's fact of what was paid out on a day, and is in no payment of the journal. */
const lostFact = (day: string) => `spent before the journal: ${day}`;

/** Credits that an address has paid out since midnight, and that no payment of the journal counts: one of a backup may not know that it was paid. */
async function countLost({ journal, client, self, now }: DayLimitParts): Promise<bigint> {
  const midnight = BigInt(Math.floor(now() / 86_400_000) * 86_400);
  const counted = journal.list().filter(({ countedDay }) => countedDay !== undefined);
  const known = new Set(counted.map(({ paymentIntentId }) => payoutIdOf(paymentIntentId)));
  let credits = 0n;
  for (const { blockNumber, payoutId, amount } of journal.transfers.listPayoutsBy(self)) {
    const { timestamp } = await client.getBlock({ blockNumber: BigInt(blockNumber) });
    if (timestamp < midnight) break;
    if (payoutId !== undefined && !known.has(payoutId)) credits += amount;
  }
  return credits;
}

/** Creates the limits of the day. */
export function createDayLimit(parts: DayLimitParts): DayLimit {
  const { journal, dailyLimit, dailyCreditLimit, creditsPerUnit, now } = parts;
  let reserved: Spent = { stablecoins: 0n, credits: 0n };
  const today = () => new Date(now()).toISOString().slice(0, 10);
  const add = (one: Spent, other: Spent): Spent => ({
    stablecoins: one.stablecoins + other.stablecoins,
    credits: one.credits + other.credits,
  });

  function spent(): Spent {
    const credits = BigInt(journal.fact(lostFact(today())) ?? '0');
    // Rounded up.
    const lost = { credits, stablecoins: (credits + creditsPerUnit - 1n) / creditsPerUnit };
    return add(journal.spentOn(today()), lost);
  }

  return {
    today,
    spent,
    findExceeded(amount) {
      const { stablecoins, credits } = add(add(spent(), reserved), amount);
      if (stablecoins > dailyLimit) return 'DAILY_LIMIT';
      return credits > dailyCreditLimit ? 'DAILY_CREDIT_LIMIT' : undefined;
    },
    reserve(amount) {
      reserved = add(reserved, amount);
      return () => {
        reserved = add(reserved, { stablecoins: -amount.stablecoins, credits: -amount.credits });
      };
    },
    async recount() {
      journal.setFact(lostFact(today()), `${await countLost(parts)}`);
    },
  };
}
