import { Counter, Gauge, Registry } from 'prom-client';
import type { FindingKind } from './finding.ts';

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

/**
 * Makes the watchtower's metrics; a kind that was never found stands there with 0, so that an alarm can watch it.
 *
 * @see https://prometheus.io/docs/practices/naming/
 */
export function createWatchMetrics(chains: readonly string[]) {
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
    requests: gauge('requests', 'Requests under watch', ['chain', 'state']),
    unenforced: gauge('unenforced', 'Findings that nothing has been done about yet', ['chain']),
  };
  for (const chain of chains) {
    for (const kind of KINDS) metrics.findings.inc({ chain, kind }, 0);
    for (const where of ['chain', 'gateway', 'journal', 'work']) metrics.faults.inc({ chain, where }, 0);
    metrics.looks.inc({ chain }, 0);
  }
  return metrics;
}

/** The watchtower's counters; each has the label `chain`. */
export type WatchMetrics = ReturnType<typeof createWatchMetrics>;
