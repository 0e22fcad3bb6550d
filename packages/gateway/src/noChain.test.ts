import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import manifest from '../package.json' with { type: 'json' };

// Shows SERVICE-1.
test('nothing of the gateway can reach a chain: it knows no method of a node, and has no client of one', () => {
  const sources = globSync('**/*.ts', { cwd: import.meta.dirname, exclude: (name) => name.endsWith('.test.ts') });
  expect(sources.length).toBeGreaterThan(100);
  const read = (source: string) => readFileSync(join(import.meta.dirname, source), 'utf8');
  expect(sources.filter((source) => /\beth_[a-z]|RPC_URL|from '(?:viem|ethers)/.test(read(source)))).toEqual([]);
  expect(Object.keys(manifest.dependencies).filter((name) => /viem|ethers|web3/.test(name))).toEqual([]);
});
