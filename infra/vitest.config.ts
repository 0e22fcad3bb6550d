import { vitestDefaults } from '@prism-gateway/testing/vitest-defaults';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    ...vitestDefaults,
    name: 'infra',
    root: import.meta.dirname,
    include: ['src/**/*.test.ts'],
    globalSetup: ['src/rig/globalSetup.ts'],
    maxWorkers: 2,
    // No test leaves anything behind, and loading the construct library once a file would take most of the time.
    isolate: false,
  },
});
