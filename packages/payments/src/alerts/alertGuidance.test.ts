import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { alertGuidance } from './alertGuidance.ts';

const source = fileURLToPath(new URL('..', import.meta.url));
const docs = readFileSync(fileURLToPath(new URL('../../../../docs/payments.md', import.meta.url)), 'utf8');

/** Codes that the programs raise, as they stand in the source. */
function listCodes(): readonly string[] {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
  );
  const text = files.map((file) => readFileSync(join(source, file), 'utf8')).join('\n');
  const raised = [...text.matchAll(/\bcode: '([A-Z_]+)',\s+(?:severity|subject)/g)].map(([, code = '']) => code);
  const latched = [...text.matchAll(/^ {2}([A-Z_]+): \{ subject: /gm)].map(([, code = '']) => code);
  const watched = ['GAS_BALANCE', 'STABLECOIN_BALANCE', 'APPROVAL'].map((kind) => `${kind}_LOW`);
  return [...raised, ...latched, ...watched, 'RPC_UNREACHABLE', 'ALERTS_SUMMED_UP'];
}

// Shows ALERT-3.
test('every alert says what to do, with a section of the documentation that exists', () => {
  const codes = [...new Set(listCodes())];
  expect(codes.length).toBeGreaterThan(20);
  for (const code of codes) {
    const guidance = alertGuidance(code);
    expect(guidance, code).toMatch(/^What to do: .+\. See docs\/payments\.md, ".+"\.$/);
    const [, section = ''] = /"([^"]+)"\.$/.exec(guidance ?? '') ?? [];
    expect(docs, `${code}: ${section}`).toContain(`# ${section}\n`);
  }
});
