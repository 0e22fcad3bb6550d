import { formatAmount, formatCredits, formatStablecoins } from '../amounts/formatAmount.ts';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import type { Payment } from '../journal/payment.ts';

/** One payment as finance reads it; amounts are decimal strings, times ISO 8601 in UTC. */
export interface LedgerLine {
  readonly paymentIntentId: string;
  readonly walletAddress: string;
  readonly state: string;
  readonly instance: string;
  readonly rate: string;
  readonly stablecoinsOwed: string;
  readonly stablecoinsSpent: string;
  readonly creditsBought: string;
  readonly creditsPaid: string;
  /** Ether. */
  readonly gas: string;
  readonly transactions: string;
  readonly blocks: string;
  readonly listedAt: string;
  readonly paidAt: string;
}

/** The sums of a day. */
export interface DayTotal {
  /** Of UTC, like `2027-01-31`. */
  readonly day: string;
  readonly payments: number;
  readonly stablecoinsOwed: string;
  readonly stablecoinsSpent: string;
  readonly creditsPaid: string;
  readonly gas: string;
}

/** Amounts of a payment in base units. */
interface Sums {
  readonly owed: bigint;
  readonly spent: bigint;
  readonly bought: bigint;
  readonly paid: bigint;
  readonly gas: bigint;
}

const plain = (text: string) => text.replaceAll(',', '');
const timeOf = (ms: number | undefined) => (ms === undefined ? '' : new Date(ms).toISOString());

function sumUp(journal: PaymentJournal, payment: Payment): Sums {
  const attempts = journal.attemptsOf(payment.paymentIntentId);
  const mined = attempts.flatMap(({ kind, state, mined }) => (mined === undefined ? [] : [{ kind, state, mined }]));
  const add = (amounts: readonly bigint[]) => amounts.reduce((sum, amount) => sum + amount, 0n);
  const own = mined.filter(({ kind }) => kind === 'payout').map(({ mined: { credits } }) => credits);
  const isPaid = payment.txHash !== undefined;
  return {
    owed: payment.stablecoinAmount,
    spent: add(mined.map(({ mined: { stablecoins } }) => stablecoins)),
    bought: add(mined.filter(({ kind }) => kind === 'buy').map(({ mined: { credits } }) => credits)),
    // One that another instance paid has no attempt here.
    paid: own.length > 0 ? add(own) : isPaid ? (journal.transfers.amountOf(payment.txHash) ?? 0n) : 0n,
    gas: add(mined.map(({ mined: { gasUsed, gasPrice } }) => gasUsed * gasPrice)),
  };
}

function paidAtMs(journal: PaymentJournal, { paymentIntentId }: Payment): number | undefined {
  return journal.movesOf(paymentIntentId).findLast(({ to }) => to === 'transferred')?.atMs;
}

function writeLine(journal: PaymentJournal, payment: Payment): LedgerLine {
  const { paymentIntentId, walletAddress, state, paidBy, rate, txHash, seenAtMs } = payment;
  const sums = sumUp(journal, payment);
  const mined = journal.attemptsOf(paymentIntentId).filter((attempt) => attempt.mined !== undefined);
  const hashes = mined.map((attempt) => attempt.txHash);
  const transactions = [...new Set([...hashes, txHash])].filter((hash) => hash !== undefined);
  const blocks = mined.map((attempt) => `${attempt.mined?.blockNumber}`);
  return {
    paymentIntentId,
    walletAddress,
    state,
    instance: paidBy ?? '',
    rate: rate === undefined ? '' : `${rate}`,
    stablecoinsOwed: plain(formatStablecoins(sums.owed)),
    stablecoinsSpent: plain(formatStablecoins(sums.spent)),
    creditsBought: plain(formatCredits(sums.bought)),
    creditsPaid: plain(formatCredits(sums.paid)),
    gas: plain(formatAmount(sums.gas, 18)),
    transactions: transactions.join(' '),
    blocks: blocks.join(' '),
    listedAt: timeOf(seenAtMs),
    paidAt: timeOf(paidAtMs(journal, payment)),
  };
}

/** Payments that were paid since a time, or begun and not paid. */
function selectPayments(journal: PaymentJournal, sinceMs: number): readonly Payment[] {
  return journal.list().filter((payment) => {
    if (payment.txHash === undefined && journal.attemptsOf(payment.paymentIntentId).length === 0) return false;
    return (paidAtMs(journal, payment) ?? payment.updatedAtMs) >= sinceMs;
  });
}

/**
 * Writes the books of an instance: a line a payment, and the sums of each day.
 *
 * @param sinceMs - milliseconds since the epoch: payments paid from then on
 */
export function writeLedger(
  journal: PaymentJournal,
  sinceMs: number,
): { readonly lines: readonly LedgerLine[]; readonly days: readonly DayTotal[] } {
  const payments = selectPayments(journal, sinceMs);
  const byDay = Map.groupBy(payments, (payment) =>
    timeOf(paidAtMs(journal, payment) ?? payment.updatedAtMs).slice(0, 10),
  );
  const days = [...byDay]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([day, list]) => {
      const sums = list.map((payment) => sumUp(journal, payment));
      const add = (pick: (sum: Sums) => bigint) => sums.reduce((all, sum) => all + pick(sum), 0n);
      return {
        day,
        payments: list.length,
        stablecoinsOwed: plain(formatStablecoins(add(({ owed }) => owed))),
        stablecoinsSpent: plain(formatStablecoins(add(({ spent }) => spent))),
        creditsPaid: plain(formatCredits(add(({ paid }) => paid))),
        gas: plain(
          formatAmount(
            add(({ gas }) => gas),
            18,
          ),
        ),
      };
    });
  return { lines: payments.map((payment) => writeLine(journal, payment)), days };
}
