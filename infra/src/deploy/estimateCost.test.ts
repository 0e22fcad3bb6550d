import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { GIVEN_SETTINGS } from '../rig/givenSettings.ts';
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

it('is told in two lines that end in their parts', () => {
  const lines = describeCost(estimateCost({})).split('\n');
  expect(lines[1]).toMatch(/^ {2}at rest .*\d+\.\d\d USD a month: secrets 0\.80, /);
  expect(lines[2]).toMatch(/a million requests of 1 kB, from POST to report: tables, writes 11\.91, /);
});
