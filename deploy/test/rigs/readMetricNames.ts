import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

/** A metric as a rule or dashboard asks for it. */
export interface AskedMetric {
  readonly name: string;
  /** Required labels, as far as they are written with `=`. */
  readonly labels: Readonly<Record<string, string>>;
}

const folder = fileURLToPath(new URL('../..', import.meta.url));
/** Prometheus adds these itself. */
const OWN_LABELS = new Set(['job', 'instance']);
const OWN_METRICS = new Set(['up']);
const SELECTOR = /\b((?:prism|payments|gas_monitor|process|nodejs)_[a-z0-9_]+|up)\b(?:\{([^}]*)\})?/g;

function readSelectors(expression: string): AskedMetric[] {
  return [...expression.matchAll(SELECTOR)].map(([, name = '', matchers = '']) => {
    const equal = [...matchers.matchAll(/(\w+)="([^"]*)"/g)].map(
      ([, label = '', value = '']) => [label, value] as const,
    );
    return { name, labels: Object.fromEntries(equal.filter(([label]) => !OWN_LABELS.has(label))) };
  });
}

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}
interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
}

const readRules = () => parse(readFileSync(join(folder, 'prometheus/alerts.yml'), 'utf8')) as Rules;

/** Lists the names of the alerts, in their order. */
export const listAlerts = (): readonly string[] =>
  readRules().groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));

/** Reads every expression of the alert rules and of the dashboards. */
export function listExpressions(): readonly string[] {
  const { groups } = readRules();
  const dashboards = join(folder, 'grafana/dashboards');
  const boards = readdirSync(dashboards).map(
    (name) => JSON.parse(readFileSync(join(dashboards, name), 'utf8')) as Dashboard,
  );
  return [
    ...groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)),
    ...boards.flatMap(({ panels }) => panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))),
  ];
}

/** Lists the metrics that rules and dashboards ask for. */
export function listAskedMetrics(): readonly AskedMetric[] {
  return listExpressions()
    .flatMap(readSelectors)
    .filter(({ name }) => !OWN_METRICS.has(name));
}

/**
 * Lists what nobody emits.
 *
 * @param asked - by rules and dashboards
 * @param texts - what running programs serve at `/metrics`
 * @returns each missing metric, as a selector
 */
export function findMissingMetrics(asked: readonly AskedMetric[], texts: readonly string[]): string[] {
  const samples = texts.flatMap((text) => text.split('\n')).filter((line) => line !== '' && !line.startsWith('#'));
  const isEmitted = ({ name, labels }: AskedMetric) =>
    samples.some(
      (line) =>
        /^[^{ ]+/.exec(line)?.[0] === name &&
        // To Prometheus, a label that is not there is an empty one.
        Object.entries(labels).every(([label, value]) =>
          value === '' ? !line.includes(`${label}="`) : line.includes(`${label}="${value}"`),
        ),
    );
  const missing = asked.filter((one) => !isEmitted(one));
  return [...new Set(missing.map(({ name, labels }) => `${name}${JSON.stringify(labels)}`))].toSorted();
}
