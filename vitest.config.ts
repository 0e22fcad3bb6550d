import { vitestDefaults } from '@prism-gateway/testing/vitest-defaults';
import { defineConfig } from 'vitest/config';

/** Gateways killed by chance under load, on a real disk; the simulated world (docs/simulation.md) plays all else, in virtual time. */
const CAMPAIGN = 'packages/gateway/test/kills/killLoop.test.ts';
/** Tests that need a Chromium. */
const BROWSER_TESTS = 'packages/*/{src,test}/**/*.browser.test.ts';
/** Runs every command that the documents name. */
const COMMANDS_TEST = 'scripts/commands/commands.test.ts';

export default defineConfig({
  test: {
    // `npm test -- --help` tells what each is and chooses among them.
    projects: [
      {
        test: {
          ...vitestDefaults,
          name: 'packages',
          exclude: ['**/node_modules/**', CAMPAIGN, BROWSER_TESTS, COMMANDS_TEST],
          include: [
            ...['packages/*/{src,test}/**/*.test.ts', 'bench/src/**/*.test.ts', 'bin/*.test.ts'],
            ...['scripts/**/*.test.ts', 'demo/**/*.test.ts', 'simulation/**/*.test.ts'],
          ],
          // No file leaves anything that the next one would find, and a worker for each would import the same modules a hundred times.
          isolate: false,
        },
      },
      { test: { ...vitestDefaults, name: 'campaigns', include: [CAMPAIGN], isolate: false } },
      {
        test: {
          ...vitestDefaults,
          name: 'browser',
          include: [BROWSER_TESTS],
          globalSetup: ['packages/testing/src/browserSetUp.ts'],
          isolate: false,
        },
      },
      { test: { ...vitestDefaults, name: 'commands', include: [COMMANDS_TEST] } },
      './acceptance/vitest.config.ts',
      './deploy/vitest.config.ts',
      './infra/vitest.config.ts',
      './packages/sdk/consumers/vitest.config.ts',
    ],
  },
});
