import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { createApp } from './rig/createApp.ts';

const PROGRAM = join(import.meta.dirname, 'apps/submit.mjs');

// The oldest viem of the peer range, too.
it.each([
  { node: '20.20.2', viem: '2.30.0', user: 1 },
  { node: '22.23.3', viem: '2.57.1', user: 2 },
  { node: '24.21.0', viem: '2.57.1', user: 3 },
])('submits a write from a plain module on Node $node with viem $viem', async ({ node, viem, user }) => {
  using app = createApp();
  // The package `node` puts the binary in its place as it is installed, where npm is let do so.
  const manifest = { name: 'app', type: 'module', allowScripts: { node: true } };
  writeFileSync(join(app.path, 'package.json'), JSON.stringify(manifest));
  await app.install(`node@${node}`, `viem@${viem}`, ...inject('tarballs'));
  copyFileSync(PROGRAM, join(app.path, 'submit.mjs'));
  const printed = await app.run('node_modules/node/bin/node', 'submit.mjs', JSON.stringify(inject('settings')[user]));
  expect(JSON.parse(printed)).toEqual({ node: `v${node}`, status: 'success', payload: '0x68656c6c6f' });
  expect(app.countCopies('viem')).toBe(1);
});
