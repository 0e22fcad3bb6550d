import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { EXAMPLE_SETTINGS } from '../rig/exampleSettings.ts';
import { findOnly, findResources, type Resource } from '../rig/readTemplate.ts';
import type { GivenSettings } from '../settings/knownSettings.ts';
import { parseStageSettings } from '../settings/stageSettings.ts';
import { describeCost, estimateCost } from './estimateCost.ts';

const total = (lines: readonly { readonly usd: number }[]) => lines.reduce((sum, { usd }) => sum + usd, 0);

const of = (given: GivenSettings) => estimateCost(parseStageSettings(given));
/** Without webhooks, as is the default. */
const { WEBHOOKS: _on, ...plain } = EXAMPLE_SETTINGS.prod;
const [edge, bare, withWebhooks] = [of(plain), of(EXAMPLE_SETTINGS.other), of(EXAMPLE_SETTINGS.prod)];

it('is below what was set: 20 dollars a million lives, and 1 a month for a relayer that idles', () => {
  expect(total(edge.perMillion)).toBeLessThanOrEqual(20);
  expect(total(edge.idleRelayer)).toBeLessThanOrEqual(1);
});

it('adds up to what the page on AWS says, with and without an edge', () => {
  const page = new URL('../../../docs/operations-aws.md', import.meta.url);
  const text = readFileSync(page, 'utf8').replaceAll(/\s+/g, ' ');
  for (const { perMillion } of [edge, bare]) expect(text).toContain(`**${total(perMillion).toFixed(2)}**`);
  for (const { atRest } of [edge, bare]) expect(text).toContain(`${total(atRest).toFixed(2)} a month`);
  expect(text).toContain(`**${total(edge.idleRelayer).toFixed(2)}** a month and chain`);
  expect(text).toContain(`webhooks ${(total(withWebhooks.perMillion) - total(edge.perMillion)).toFixed(2)} more`);
  for (const { what, usd } of edge.perMillion) expect(text).toContain(`| ${what} | ${usd.toFixed(2)} |`);
});

it('counts the alarms, secrets and rules that there are', () => {
  const countOf = (type: string) => Object.keys(findResources('prod', type)).length;
  const metricsOf = ({ Metrics }: Resource['Properties']) =>
    Array.isArray(Metrics) ? Metrics.filter((query) => 'MetricStat' in query).length : 1;
  const alarms = Object.values(findResources('prod', 'AWS::CloudWatch::Alarm'));
  const metrics = alarms.reduce((count, { Properties }) => count + metricsOf(Properties), 0);
  const { atRest } = estimateCost(parseStageSettings(EXAMPLE_SETTINGS.prod));
  expect(atRest).toContainEqual({ what: 'alarms', usd: expect.closeTo(0.1 * metrics) });
  // The app's own secret was made by the operator.
  expect(atRest).toContainEqual({
    what: 'secrets',
    usd: expect.closeTo(0.4 * (countOf('AWS::SecretsManager::Secret') + 1)),
  });
  const { Rules } = findOnly('prod', 'AWS::WAFv2::WebACL').Properties;
  expect(atRest).toContainEqual({ what: 'firewall', usd: 5 + (Array.isArray(Rules) ? Rules.length : 0) });
});

it('is reported in lines that end in their parts', () => {
  const lines = describeCost(estimateCost({ hasWebhooks: false })).split('\n');
  expect(lines[1]).toMatch(/^ {2}at rest .*\d+\.\d\d USD a month: secrets 0\.80, /);
  expect(lines[3]).toMatch(/a million requests of 1 kB, from POST to report: tables, writes \d/);
});
