import { vitestDefaults } from '@prism-gateway/testing/vitest-defaults';
import { defineConfig } from 'vitest/config';
import { campaigns } from './scripts/long/campaigns.ts';

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...vitestDefaults,
          name: 'packages',
          exclude: ['**/node_modules/**', ...campaigns],
          include: [
            ...['packages/*/{src,test}/**/*.test.ts', 'bench/src/**/*.test.ts', 'bin/*.test.ts'],
            ...['scripts/**/*.test.ts', 'demo/**/*.test.ts'],
          ],
          // No file leaves anything that the next one would find, and a worker for each would import the same modules a hundred times.
          isolate: false,
        },
      },
      { test: { ...vitestDefaults, name: 'campaigns', include: [...campaigns], isolate: false } },
      './acceptance/vitest.config.ts',
    ],
    // Two more than the two cores: files wait for processes and blocks, some of them most of their time.
    maxWorkers: 4,
  },
});
