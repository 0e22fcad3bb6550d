import { readFileSync } from 'node:fs';
import { isLong } from '@prism-gateway/testing/test-size';
import { expect, it } from 'vitest';
import { generateSources } from '../scripts/generateSources.ts';
import { hashSources } from '../scripts/hashSources.ts';
import { sourcesHash } from './generated/sourcesHash.ts';

it('was made from the Solidity sources as they are: else run `node packages/contracts/scripts/compile.ts`', () => {
  expect(sourcesHash).toBe(hashSources());
});

// The compiler takes many seconds; the hash above stands for it every day.
it.runIf(isLong)('is what the compiler makes of them', () => {
  for (const { path, text } of generateSources()) {
    expect(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8') === text, path).toBe(true);
  }
});
