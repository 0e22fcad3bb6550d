import { Counter, Gauge, Registry } from 'prom-client';
import type { PaymentJournal } from '../journal/openPaymentJournal.ts';
import { PAYMENT_STATES } from '../journal/paymentState.ts';

/** What the payment relayer counts. */
export interface Metrics {
  countAlert(code: string): void;
  /** Prometheus text. */
  write(): Promise<string>;
}

/**
 * Creates the metrics; gauges are read from the journal when the text is written.
 *
 * @param parts - the journal, and the clock in milliseconds
 * @returns the metrics
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/
 */
export function createMetrics(parts: { readonly journal: PaymentJournal; readonly now: () => number }): Metrics {
  const { journal, now } = parts;
  const registry = new Registry();
  const registers = [registry];
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
    name: 'payments_written_timestamp_seconds',
    help: 'When this text was written: old means that the relayer is not at work.',
    registers,
    collect() {
      this.set(now() / 1000);
    },
  });
  return { countAlert: (code) => alerts.inc({ code }), write: () => registry.metrics() };
}
