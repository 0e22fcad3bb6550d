import type { PageMaker } from '@prism-gateway/node';
import { timeOf } from '../cli/describePayments.ts';
import type { MonitorReading } from './createMonitor.ts';
import type { MonitorStore } from './openMonitorStore.ts';

/** Points of a balance's course that a status shows. */
const MAX_POINTS = 48;

/** Makes the page `/status`: what each account had last and of late, and what people were alerted to that is not over. */
export function createMonitorPage({
  readings,
  store: { outbox, samplesOf },
  limits,
}: {
  readonly readings: ReadonlyMap<string, MonitorReading>;
  readonly store: Pick<MonitorStore, 'outbox' | 'samplesOf'>;
  /** In a sentence. */
  readonly limits: string;
}): PageMaker {
  return () => {
    const accounts = [...readings].map(([where, reading]) => {
      const samples = samplesOf(where);
      const step = Math.ceil(samples.length / MAX_POINTS);
      const course = samples.filter((_, place) => (samples.length - 1 - place) % step === 0);
      return { ...reading, course: course.map(({ atMs, balanceWei }) => [atMs, Number(balanceWei) / 1e18]) };
    });
    const conditions = outbox.listConditions().map((name) => {
      const { sinceMs } = outbox.condition(name) ?? {};
      return { name, ...(sinceMs !== undefined && { since: timeOf(sinceMs) }) };
    });
    const status = { program: 'gas-monitor', limits, accounts, conditions, mail: outbox.listBacklogs() };
    return { contentType: 'application/json', body: `${JSON.stringify(status)}\n` };
  };
}
