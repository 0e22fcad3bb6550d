import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      {
        // Pure functions: their files need no worker of their own each.
        test: { name: 'protocol', include: ['packages/protocol/**/*.test.ts'], isolate: false },
      },
      {
        // What stands beside the code keeps nothing that the next file would find.
        test: {
          name: 'units',
          // The entries bring Hono's server, which puts a Response of its own in the place of Node's.
          exclude: ['packages/protocol/**', 'packages/gateway/src/entry/**', '**/node_modules/**'],
          include: ['packages/*/src/**/*.test.ts'],
          isolate: false,
          testTimeout: 30_000,
          hookTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'packages',
          exclude: ['packages/protocol/**', '**/node_modules/**'],
          include: [
            'packages/gateway/src/entry/**/*.test.ts',
            'packages/*/test/**/*.test.ts',
            'scripts/**/*.test.ts',
            'demo/**/*.test.ts',
          ],
          testTimeout: 30_000,
          hookTimeout: 30_000,
        },
      },
      './acceptance/vitest.config.ts',
    ],
    // Two cores, and most suites start processes of their own.
    maxWorkers: 2,
  },
});
