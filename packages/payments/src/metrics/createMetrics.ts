import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { ALERT_CODES } from '../alerts/alertGuidance.ts';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import { OPEN_STATES, PAYMENT_STATES, type PaymentState } from '../journal/paymentState.ts';
import type { Balances } from '../readiness/readAccountBalances.ts';

/** The payment relayer's counters. */
export interface Metrics {
  countAlert(code: string): void;
  /** Writes the text. */
  readonly registry: Registry;
}

/** The sources of the metrics. */
export interface MetricsParts {
  readonly journal: PaymentJournal;
  /** The instance's balances on the chain; the function keeps them for a while. */
  readonly readAccountBalances: () => Promise<Balances>;
  /** Credits for one stablecoin, as expected. */
  readonly expectedRate: bigint;
  /** When the last poll went through, on the clock that is never set, in milliseconds. */
  readonly polledAtMs: () => number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds of a clock that is never set. */
  readonly monotonicNow: () => number;
}

/** Seconds: a payment takes some blocks, and a late one a day. */
const BUCKETS = [5, 15, 30, 60, 120, 300, 600, 1800, 3600, 21_600, 86_400];
/** Those whose age is reported: not paid, and not refused or closed. */
const AGING: readonly PaymentState[] = ['seen', 'given back', 'held', ...OPEN_STATES];

function gaugeBalances({ readAccountBalances }: MetricsParts, registers: [Registry]): void {
  const kinds = [
    ['ether', 'Ether of the account.', ({ ether }: Balances) => Number(ether) / 1e18],
    ['stablecoins', 'Stablecoins of the account.', ({ stablecoins }: Balances) => Number(stablecoins) / 1e6],
    ['credits', 'Credits of the account.', ({ credits }: Balances) => Number(credits) / 1e18],
  ] as const;
  for (const [name, help, read] of kinds)
    new Gauge({
      name: `payments_balance_${name}`,
      help,
      registers,
      async collect() {
        const balances = await readAccountBalances().catch(() => undefined);
        // A node that does not answer leaves no balance, rather than an old one.
        if (balances === undefined) this.remove();
        else this.set(read(balances));
      },
    });
}

function gaugeAges({ journal, now }: MetricsParts, registers: [Registry]): void {
  new Gauge({
    name: 'payments_oldest_seconds',
    help: 'Age of the oldest payment that is not paid, since it was first listed.',
    labelNames: ['state'],
    registers,
    collect() {
      const waiting = journal.listWaiting();
      for (const state of AGING) {
        const isWaiting = state === 'seen' || state === 'given back';
        const [oldest] = isWaiting ? waiting.filter((payment) => payment.state === state) : journal.list([state]);
        this.set({ state }, oldest === undefined ? 0 : (now() - oldest.seenAtMs) / 1000);
      }
    },
  });
}

/** Takes in what was paid since the last text. */
function watchPaid({ journal, expectedRate }: MetricsParts, registers: [Registry]): void {
  const spread = new Gauge({
    name: 'payments_rate_spread_bps',
    help: 'Distance of the price of the last buy from EXCHANGE_RATE, in basis points; below zero: fewer credits.',
    registers,
  });
  let lastMove = journal.lastMove();
  new Histogram({
    name: 'payments_listed_to_paid_seconds',
    help: 'Time from the first listing to the payout, of payments since the start.',
    buckets: BUCKETS,
    registers,
    collect() {
      for (const { moveId, atMs, payment } of journal.listMovesTo('transferred', lastMove)) {
        lastMove = moveId;
        this.observe((atMs - payment.seenAtMs) / 1000);
        const mined = journal.attemptsOf(payment.paymentIntentId).findLast(({ kind }) => kind === 'buy')?.mined;
        if (mined === undefined || mined.stablecoins === 0n) continue;
        const expected = mined.stablecoins * expectedRate * 10n ** 12n;
        spread.set(Number(((mined.credits - expected) * 1_000_000n) / expected) / 100);
      }
    },
  });
}

/**
 * Creates the metrics; gauges are read when the text is written.
 *
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/
 */
export function createMetrics(parts: MetricsParts): Metrics {
  const { journal, now } = parts;
  const registry = new Registry();
  const registers: [Registry] = [registry];
  const alerts = new Counter({
    name: 'payments_alerts_total',
    help: 'Alerts raised since the start.',
    labelNames: ['code'],
    registers,
  });
  new Gauge({
    name: 'payments_by_state',
    help: 'Payments in the journal.',
    labelNames: ['state'],
    registers,
    collect() {
      const counts = journal.countStates();
      for (const state of PAYMENT_STATES) this.set({ state }, counts.get(state) ?? 0);
    },
  });
  new Gauge({
    name: 'payments_spent_today_stablecoins',
    help: 'Stablecoins of the payments that count against the limit of the day (UTC).',
    registers,
    collect() {
      // A gauge is a float: whole stablecoins and their cents are exact enough to look at.
      this.set(Number(journal.spentOn(new Date(now()).toISOString().slice(0, 10)).stablecoins) / 1e6);
    },
  });
  new Gauge({
    name: 'payments_polled_timestamp_seconds',
    help: 'When the last poll went through: old means that the relayer is not at work, or hangs.',
    registers,
    collect() {
      this.set((now() - parts.monotonicNow() + parts.polledAtMs()) / 1000);
    },
  });
  gaugeBalances(parts, registers);
  gaugeAges(parts, registers);
  watchPaid(parts, registers);
  // A rate has two ends: what never happened starts at 0.
  for (const code of ALERT_CODES) alerts.inc({ code }, 0);
  return { countAlert: (code) => alerts.inc({ code }), registry };
}
