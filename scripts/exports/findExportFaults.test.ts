import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findExportFaults } from './findExportFaults.ts';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'prism-exports-'));
});

afterEach(async () => {
  await rm(root, { recursive: true });
});

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}

const manifest = (exports: object, isPrivate = true) =>
  JSON.stringify({ name: '@prism-gateway/a', private: isPrivate, exports });

test('an entry that exists and is used by another package is none', async () => {
  await write({
    'packages/a/package.json': manifest({
      '.': './src/index.ts',
      './b': { types: './dist/b.d.ts', default: './src/b.ts' },
    }),
    'packages/a/src/index.ts': '',
    'packages/a/src/b.ts': '',
    'bench/main.ts': `import '@prism-gateway/a'; await import('@prism-gateway/a/b');`,
  });
  expect(findExportFaults(root)).toEqual([]);
});

test('an entry without its file', async () => {
  await write({
    'packages/a/package.json': manifest({ '.': { types: './src/index.d.ts', default: './src/index.ts' } }),
    'packages/a/src/index.ts': '',
    'bench/main.ts': `import '@prism-gateway/a';`,
  });
  expect(findExportFaults(root)).toEqual(['packages/a exports . as ./src/index.d.ts, which does not exist.']);
});

test('an entry that only the package itself uses, or what is installed', async () => {
  await write({
    'packages/a/package.json': manifest({ './b': './src/b.ts' }),
    'packages/a/src/b.ts': '',
    'packages/a/test/b.test.ts': `import '@prism-gateway/a/b';`,
    'node_modules/c/index.mjs': `import '@prism-gateway/a/b';`,
  });
  expect(findExportFaults(root)).toEqual(['packages/a exports ./b, which nothing outside of it imports.']);
});

test('what is published need not be used here', async () => {
  await write({ 'packages/a/package.json': manifest({ '.': './index.ts' }, false), 'packages/a/index.ts': '' });
  expect(findExportFaults(root)).toEqual([]);
});
