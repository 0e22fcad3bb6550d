import { vitestDefaults } from '@prism-gateway/testing/vitest-defaults';
import { defineConfig } from 'vitest/config';

/** Tests that run Hono's server in their own process, where it puts a Response of its own in the place of Node's. */
const servesHere = ['entry', 'openapi', 'routes', 'drivers/disk'].map(
  (folder) => `packages/gateway/src/${folder}/**/*.test.ts`,
);

export default defineConfig({
  test: {
    projects: [
      {
        // Pure functions: their files need no worker of their own each.
        test: { ...vitestDefaults, name: 'protocol', include: ['packages/protocol/**/*.test.ts'], isolate: false },
      },
      {
        // Keep nothing that the next file would find.
        test: {
          ...vitestDefaults,
          name: 'units',
          exclude: ['packages/protocol/**', ...servesHere, '**/node_modules/**'],
          include: ['packages/*/src/**/*.test.ts'],
          isolate: false,
        },
      },
      { test: { ...vitestDefaults, name: 'serving', include: servesHere } },
      {
        // Their programs are processes of their own; a worker for each file would import the same modules a hundred times.
        test: {
          ...vitestDefaults,
          name: 'packages',
          exclude: ['packages/protocol/**', '**/node_modules/**'],
          isolate: false,
          include: ['packages/*/test/**/*.test.ts', 'bin/*.test.ts', 'scripts/**/*.test.ts', 'demo/**/*.test.ts'],
        },
      },
      './acceptance/vitest.config.ts',
    ],
    // Two more than the two cores: files wait for processes and blocks, some of them most of their time.
    maxWorkers: 4,
  },
});
