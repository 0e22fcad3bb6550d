import { vitestDefaults } from '@prism-gateway/testing/vitest-defaults';
import { defineConfig } from 'vitest/config';

/** `npm test -- --deploy`: with Debian's own tools, if they are installed; so it is no part of `npm test`. */
export default defineConfig({
  test: {
    ...vitestDefaults,
    name: 'deploy',
    root: import.meta.dirname,
    include: ['test/*.test.ts'],
    globalSetup: ['test/rigs/installTools.ts'],
    maxWorkers: 2,
  },
});
