import { Counter, Gauge, Registry } from 'prom-client';
import type { FindingKind } from './finding.ts';

/** What the watchtower counts; each has the label `chain`. */
export interface WatchMetrics {
  readonly registry: Registry;
  /** By `kind`: as `finding.ts` names them. */
  readonly findings: Counter<'chain' | 'kind'>;
  readonly alerts: Counter<'chain' | 'code'>;
  /** Looks that went well. */
  readonly looks: Counter<'chain'>;
  /** Looks that failed, by `where`: `chain`, `gateway`, `journal`, `work`. */
  readonly faults: Counter<'chain' | 'where'>;
  /** The newest block that has been looked at. */
  readonly head: Gauge<'chain'>;
  /** Requests under watch, by `state`. */
  readonly requests: Gauge<'chain' | 'state'>;
  /** Lies that nothing has been done about yet. */
  readonly unenforced: Gauge<'chain'>;
}

const KINDS: readonly FindingKind[] = [
  'falseSuccess',
  'wrongTransaction',
  'falseFailure',
  'idleClaim',
  'idleRelease',
  'executedLater',
  'reorganised',
];

/**
 * Makes the watchtower's metrics; a kind that was never found stands there with 0, so that an alarm can watch it.
 *
 * @param chains - the gateway's names of them
 * @see https://prometheus.io/docs/practices/naming/
 */
export function createWatchMetrics(chains: readonly string[]): WatchMetrics {
  const registry = new Registry();
  const registers = [registry];
  const name = (text: string) => `prism_watchtower_${text}`;
  const findings = new Counter({
    name: name('findings_total'),
    help: 'Reports that were found not to be true, by kind',
    labelNames: ['chain', 'kind'] as const,
    registers,
  });
  const metrics: WatchMetrics = {
    registry,
    findings,
    alerts: new Counter({
      name: name('alerts_total'),
      help: 'Alerts that were raised',
      labelNames: ['chain', 'code'] as const,
      registers,
    }),
    looks: new Counter({
      name: name('looks_total'),
      help: 'Looks at queue and chain that went well',
      labelNames: ['chain'] as const,
      registers,
    }),
    faults: new Counter({
      name: name('faults_total'),
      help: 'Looks that failed, by place',
      labelNames: ['chain', 'where'] as const,
      registers,
    }),
    head: new Gauge({
      name: name('head'),
      help: 'The newest block that has been looked at',
      labelNames: ['chain'] as const,
      registers,
    }),
    requests: new Gauge({
      name: name('requests'),
      help: 'Requests under watch',
      labelNames: ['chain', 'state'] as const,
      registers,
    }),
    unenforced: new Gauge({
      name: name('unenforced'),
      help: 'Findings that nothing has been done about yet',
      labelNames: ['chain'] as const,
      registers,
    }),
  };
  for (const chain of chains) {
    for (const kind of KINDS) findings.inc({ chain, kind }, 0);
    for (const where of ['chain', 'gateway', 'journal', 'work']) metrics.faults.inc({ chain, where }, 0);
    metrics.looks.inc({ chain }, 0);
  }
  return metrics;
}
