import type { PageMaker } from '@prism-gateway/node';
import { formatAmount, formatCredits, formatStablecoins } from '../amounts/formatAmount.ts';
import { describePayment, describeStory, timeOf } from '../cli/describePayments.ts';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import { OPEN_STATES } from '../journal/paymentState.ts';
import type { RunningPayer } from '../startPayer.ts';

/** The sources of the status. */
export type StatusParts = Pick<RunningPayer, 'journal' | 'readDay' | 'readAccountBalances'>;

/** Most payments that are reported one by one, of those the oldest. */
const MAX_LISTED = 100;
const ETHER_DECIMALS = 18;

/** The instance's balances; a node that does not answer leaves none, rather than an old one. */
async function readTreasury({ readAccountBalances }: StatusParts) {
  const balances = await readAccountBalances().catch(() => undefined);
  if (balances === undefined) return undefined;
  const { ether, stablecoins, credits } = balances;
  return {
    ether: formatAmount(ether, ETHER_DECIMALS),
    stablecoins: formatStablecoins(stablecoins),
    credits: formatCredits(credits),
  };
}

function describeDay({ readDay, journal }: StatusParts) {
  const { day, stablecoins, credits, dailyLimit, dailyCreditLimit } = readDay();
  return {
    ...{ day, completed: journal.spentOn(day).completed },
    ...{ stablecoins: formatStablecoins(stablecoins), stablecoinLimit: formatStablecoins(dailyLimit) },
    ...{ credits: formatCredits(credits), creditLimit: formatCredits(dailyCreditLimit) },
  };
}

/** Conditions that people were alerted to and that are not over. */
function listConditions({ outbox }: PaymentJournal) {
  return outbox.listConditions().map((name) => {
    const { sinceMs } = outbox.condition(name) ?? {};
    return { name, ...(sinceMs !== undefined && { since: timeOf(sinceMs) }) };
  });
}

/**
 * Makes the page `/status`: how many payments are in which state, those that are under way or wait for people, the day, the treasury,
 * and, by `?about=ID`, the story of one payment.
 */
export function createStatusPage(parts: StatusParts): PageMaker {
  const { journal } = parts;
  return async ({ searchParams }) => {
    const waiting = journal.list([...OPEN_STATES, 'given back', 'held', 'refused']).map(describePayment);
    const payment = journal.get(searchParams.get('about') ?? '');
    const status = {
      ...{ program: 'payments', owner: journal.fact('owner') ?? '', counts: Object.fromEntries(journal.countStates()) },
      ...{ mail: journal.outbox.listBacklogs(), conditions: listConditions(journal) },
      ...{ today: describeDay(parts), treasury: await readTreasury(parts), payments: waiting.slice(0, MAX_LISTED) },
      ...(payment && { story: describeStory(journal, payment, (txHash) => txHash) }),
    };
    return { contentType: 'application/json', body: `${JSON.stringify(status)}\n` };
  };
}
