import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect, it } from 'vitest';

it('bundles for a browser: nothing that only Node has, and no creation code', async () => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('./index.ts', import.meta.url))],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    write: false,
  });
  // The Forwarder's creation code alone would be 30 kB of hex in one piece.
  expect(outputFiles[0]?.text).not.toMatch(/0x[0-9a-f]{5000}/);
});
