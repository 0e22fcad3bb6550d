import { vitestDefaults } from '@prism-gateway/testing/vitest-defaults';
import { defineConfig } from 'vitest/config';

const isRemote = Boolean(process.env.ACCEPTANCE_URL);

export default defineConfig({
  test: {
    ...vitestDefaults,
    name: 'acceptance',
    root: import.meta.dirname,
    globalSetup: ['./globalSetup.ts'],
    include: ['**/*.test.ts'],
    // What needs a gateway with settings of its own is for runs that start theirs.
    exclude: isRemote ? ['settings/**', 'walkthrough/**'] : [],
    // A remote gateway may make a call wait for its rate limit's window.
    ...(isRemote ? { testTimeout: 200_000, hookTimeout: 200_000 } : {}),
    // They share nothing but the gateway that they call.
    isolate: false,
    // After all other files: a worker ends as soon as the next file in line is another project's, and with it what it has imported.
    sequence: { groupOrder: 1 },
  },
});
