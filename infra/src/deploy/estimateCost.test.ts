import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { GIVEN_SETTINGS } from '../rig/givenSettings.ts';
import { findOnly, findResources, type Resource } from '../rig/readTemplate.ts';
import { parseStageSettings } from '../settings/stageSettings.ts';
import { describeCost, estimateCost } from './estimateCost.ts';

const total = (lines: readonly { readonly usd: number }[]) => lines.reduce((sum, { usd }) => sum + usd, 0);

it('adds up to what the documentation says, with and without an edge', () => {
  const text = readFileSync(new URL('../../../docs/operations-aws.md', import.meta.url), 'utf8');
  const withEdge = estimateCost(parseStageSettings(GIVEN_SETTINGS.prod));
  const without = estimateCost(parseStageSettings(GIVEN_SETTINGS.dev));
  expect(text).toContain(`**${total(withEdge.perMillion).toFixed(2)}**`);
  expect(text).toContain(`**${total(without.perMillion).toFixed(2)}**`);
  expect(text).toContain(`**${total(withEdge.atRest).toFixed(2)} a month**`);
  expect(text).toContain(`**${total(without.atRest).toFixed(2)} a month**`);
});

it('is the bill that docs/scaling.md tells, part by part', () => {
  const text = readFileSync(new URL('../../../docs/scaling.md', import.meta.url), 'utf8').replaceAll(/\s+/g, ' ');
  const { perMillion, atRest } = estimateCost(parseStageSettings(GIVEN_SETTINGS.prod));
  const bare = estimateCost(parseStageSettings(GIVEN_SETTINGS.dev));
  const isOfTables = ({ what }: { readonly what: string }) => what.startsWith('tables');
  expect(text).toContain(`tables ${total(perMillion.filter(isOfTables)).toFixed(2)} (`);
  for (const { what, usd } of perMillion.filter((line) => !isOfTables(line)))
    expect(text).toContain(`${what} ${usd.toFixed(2)}`);
  expect(text).toContain(`are **${total(perMillion).toFixed(2)} dollars** in prod`);
  expect(text).toContain(`Without an edge they are ${total(bare.perMillion).toFixed(2)}.`);
  const [withEdge, without] = [atRest, bare.atRest].map((lines) => total(lines).toFixed(2));
  expect(text).toContain(`At rest a stage is ${withEdge} a month with an edge, ${without} without.`);
  // 10,000 a second for a thousand seconds are ten million lives.
  expect(text).toContain(`are ${(10 * total(perMillion)).toFixed(0)} dollars for each thousand seconds`);
});

it('counts the alarms, secrets and rules that there are', () => {
  const countOf = (type: string) => Object.keys(findResources('prod', type)).length;
  const metricsOf = ({ Metrics }: Resource['Properties']) =>
    Array.isArray(Metrics) ? Metrics.filter((query) => 'MetricStat' in query).length : 1;
  const alarms = Object.values(findResources('prod', 'AWS::CloudWatch::Alarm'));
  const metrics = alarms.reduce((count, { Properties }) => count + metricsOf(Properties), 0);
  const { atRest } = estimateCost(parseStageSettings(GIVEN_SETTINGS.prod));
  expect(atRest).toContainEqual({ what: 'alarms', usd: expect.closeTo(0.1 * metrics) });
  // The app's own secret was made by the operator.
  expect(atRest).toContainEqual({
    what: 'secrets',
    usd: expect.closeTo(0.4 * (countOf('AWS::SecretsManager::Secret') + 1)),
  });
  const { Rules } = findOnly('prod', 'AWS::WAFv2::WebACL').Properties;
  expect(atRest).toContainEqual({ what: 'firewall', usd: 5 + (Array.isArray(Rules) ? Rules.length : 0) });
});

it('is told in two lines that end in their parts', () => {
  const lines = describeCost(estimateCost({})).split('\n');
  expect(lines[1]).toMatch(/^ {2}at rest .*\d+\.\d\d USD a month: secrets 0\.80, /);
  expect(lines[2]).toMatch(/a million requests of 1 kB, from POST to report: tables, writes 12\.53, /);
});
