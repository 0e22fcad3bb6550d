import { vitestDefaults } from '@prism-gateway/testing/vitest-defaults';
import { defineConfig } from 'vitest/config';
import { campaigns } from './scripts/long/campaigns.ts';

/** Tests that need a Chromium: `npm run test:browser`. */
const BROWSER_TESTS = 'packages/*/{src,test}/**/*.browser.test.ts';

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...vitestDefaults,
          name: 'packages',
          exclude: ['**/node_modules/**', ...campaigns, BROWSER_TESTS],
          include: [
            ...['packages/*/{src,test}/**/*.test.ts', 'bench/src/**/*.test.ts', 'bin/*.test.ts'],
            ...['scripts/**/*.test.ts', 'demo/**/*.test.ts', 'simulation/**/*.test.ts'],
          ],
          // No file leaves anything that the next one would find, and a worker for each would import the same modules a hundred times.
          isolate: false,
        },
      },
      { test: { ...vitestDefaults, name: 'campaigns', include: [...campaigns], isolate: false } },
      {
        test: {
          ...vitestDefaults,
          name: 'browser',
          include: [BROWSER_TESTS],
          globalSetup: ['packages/testing/src/browserSetUp.ts'],
          isolate: false,
        },
      },
      './acceptance/vitest.config.ts',
    ],
    // Two more than the two cores: files wait for processes and blocks, some of them most of their time.
    maxWorkers: 4,
  },
});
