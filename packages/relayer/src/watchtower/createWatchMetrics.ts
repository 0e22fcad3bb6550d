import { Counter, Gauge, Registry } from 'prom-client';
import type { FindingKind } from './finding.ts';
import type { WatchJournal } from './journal/openWatchJournal.ts';

const KINDS: readonly FindingKind[] = [
  'falseSuccess',
  'wrongTransaction',
  'falseFailure',
  'idleClaim',
  'idleRelease',
  'executedLater',
  'reorganised',
  'otherForwarder',
];

const STATES = ['pending', 'held', 'ended', 'watching', 'done'] as const;

/**
 * Makes the watchtower's metrics; a kind that was never found stands there with 0, so that an alarm can watch it.
 *
 * @param source.journals - of the chains that are watched, by name: their requests are counted when somebody asks
 * @see https://prometheus.io/docs/practices/naming/
 */
export function createWatchMetrics(
  chains: readonly string[],
  { journals }: { readonly journals: ReadonlyMap<string, Pick<WatchJournal, 'count'>> },
) {
  const registry = new Registry();
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter<L>({
      name: `prism_watchtower_${name}_total`,
      help,
      labelNames: [...labelNames],
      registers: [registry],
    });
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Gauge<L>({ name: `prism_watchtower_${name}`, help, labelNames: [...labelNames], registers: [registry] });
  const metrics = {
    registry,
    findings: counter('findings', 'Reports that were found not to be true, by kind', ['chain', 'kind']),
    alerts: counter('alerts', 'Alerts that were raised', ['chain', 'code']),
    looks: counter('looks', 'Looks at queue and chain that went well', ['chain']),
    faults: counter('faults', 'Looks that failed, by place', ['chain', 'where']),
    head: gauge('head', 'The newest block that has been looked at', ['chain']),
    unenforced: gauge('unenforced', 'Findings that nothing has been done about yet', ['chain']),
  };
  new Gauge({
    name: 'prism_watchtower_requests',
    help: 'Requests under watch',
    labelNames: ['chain', 'state'],
    registers: [registry],
    collect() {
      for (const [chain, journal] of journals) {
        const counts = journal.count();
        for (const state of STATES) this.set({ chain, state }, counts.get(state) ?? 0);
      }
    },
  });
  for (const chain of chains) {
    for (const kind of KINDS) metrics.findings.inc({ chain, kind }, 0);
    for (const where of ['chain', 'gateway', 'journal', 'work']) metrics.faults.inc({ chain, where }, 0);
    metrics.looks.inc({ chain }, 0);
  }
  return metrics;
}

/** The watchtower's counters; each has the label `chain`. */
export type WatchMetrics = ReturnType<typeof createWatchMetrics>;
