import { formatAmount, formatCredits, formatStablecoins } from '../amounts/formatAmount.ts';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import type { Payment } from '../journal/payment.ts';

/** A moment in UTC, to the second. */
export const timeOf = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** A payment in a line; amounts as people read them, times in UTC. */
export function describePayment(payment: Payment) {
  const { paymentIntentId, state, stablecoinAmount, creditsOwed, attempts, txHash, reason, seenAtMs, updatedAtMs } =
    payment;
  return {
    payment: paymentIntentId,
    state,
    stablecoins: formatStablecoins(stablecoinAmount),
    credits: creditsOwed === undefined ? '' : formatCredits(creditsOwed),
    tries: `${attempts}`,
    listed: timeOf(seenAtMs),
    since: timeOf(updatedAtMs),
    transaction: txHash ?? '',
    reason: reason ?? '',
  };
}

/** A payment in a journal, with all events in order. */
export interface Story {
  /** Whose journal it is. */
  readonly instance: string;
  readonly payment: Readonly<Record<string, string>>;
  readonly events: readonly { readonly at: string; readonly event: string }[];
  /** Its calls to the chain, with what they cost and moved. */
  readonly calls: readonly Readonly<Record<string, string>>[];
}

/**
 * Writes all that the journal knows of a payment.
 *
 * @param linkTo - writes a transaction as something that can be followed
 */
export function describeStory(journal: PaymentJournal, payment: Payment, linkTo: (txHash: string) => string): Story {
  const { paymentIntentId, walletAddress, paidBy, txHash, rate } = payment;
  const moves = journal.movesOf(paymentIntentId).map(({ atMs, from, to, reason }) => ({
    atMs,
    event: `${from === undefined ? 'listed: ' : ''}${to}${reason === undefined ? '' : `: ${reason}`}`,
  }));
  const decisions = journal
    .decisionsOf(paymentIntentId)
    .map(({ atMs, act, who, why }) => ({ atMs, event: `${who} has ${act} it: ${why}` }));
  const calls = journal.attemptsOf(paymentIntentId).map(({ kind, state, txHash: hash, mined }) => ({
    call: kind,
    state,
    stablecoins: mined === undefined ? '' : formatStablecoins(mined.stablecoins),
    credits: mined === undefined ? '' : formatCredits(mined.credits),
    gas: mined === undefined ? '' : `${formatAmount(mined.gasUsed * mined.gasPrice, 18)} ETH`,
    transaction: hash === undefined ? '' : linkTo(hash),
  }));
  const { tries: _, transaction: __, ...fields } = describePayment(payment);
  return {
    instance: journal.fact('owner') ?? '',
    payment: {
      ...fields,
      wallet: walletAddress,
      ...(rate !== undefined && { rate: `${rate} credits for one stablecoin` }),
      ...(txHash !== undefined && { paid: `${linkTo(txHash)} by ${paidBy}` }),
    },
    events: [...moves, ...decisions]
      .toSorted((one, other) => one.atMs - other.atMs)
      .map(({ atMs, event }) => ({ at: timeOf(atMs), event })),
    calls,
  };
}

/** Writes a story for people. */
export function formatStory({ instance, payment, events, calls }: Story): string {
  const lines = Object.entries(payment).filter(([, value]) => value !== '');
  return [
    `Journal of ${instance || 'nobody yet'}`,
    ...lines.map(([name, value]) => `${name}: ${value}`),
    '',
    formatRows(events),
    ...(calls.length === 0 ? [] : ['', formatRows(calls)]),
  ].join('\n');
}

/**
 * Writes rows as a table of text.
 *
 * @returns lines, the names of the fields first
 */
export function formatRows(rows: readonly Readonly<Record<string, string>>[]): string {
  const [first] = rows;
  if (first === undefined) return 'Nothing.';
  const names = Object.keys(first);
  const table = [names, ...rows.map((row) => names.map((name) => row[name] ?? ''))];
  const widths = names.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  return table
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
