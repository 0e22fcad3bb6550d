import { defineConfig } from 'vitest/config';

/** `npm test -- --packages`: installs the tarballs as users do, from the registry; so it is no part of `npm test`. */
export default defineConfig({
  root: import.meta.dirname,
  test: {
    name: 'consumers',
    include: ['*.test.ts'],
    globalSetup: ['rig/setUp.ts'],
    // Installs and builds take a while on a loaded machine.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxWorkers: 2,
  },
});
