import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'infra',
    root: import.meta.dirname,
    include: ['src/**/*.test.ts'],
    globalSetup: ['src/rig/globalSetup.ts'],
    // Each synthesis takes some seconds, and loading the construct library as many.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    // No test leaves anything behind, and loading the construct library once a file would take most of the time.
    isolate: false,
  },
});
