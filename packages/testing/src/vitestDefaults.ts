import { fileURLToPath } from 'node:url';
import { sized } from './testSize.ts';
import { TIMEOUT_MS } from './timeout.ts';

/** A bound for what hangs, in milliseconds. It measures nothing: a machine under load takes many times as long as an idle one. */
const HANG_MS = sized({ small: 240_000, long: 3_600_000 });

/** The same place as of `npm start`, from the repository's root. */
const COMPILE_CACHE = fileURLToPath(new URL('../../../node_modules/.cache/node', import.meta.url));

/** Settings of every Vitest project's tests. */
export const vitestDefaults = {
  testTimeout: HANG_MS,
  hookTimeout: HANG_MS,
  setupFiles: ['ownTemporaryFolder.ts', 'seedProperties.ts'].map((file) =>
    fileURLToPath(new URL(file, import.meta.url)),
  ),
  // The programs that tests start, some hundreds, are compiled once: each start takes half the time.
  env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? COMPILE_CACHE },
  // More than the two cores: files wait for processes and blocks, some of them most of their time. With 4, a sixth more time.
  maxWorkers: 6,
  expect: {
    // A test that asserts nothing cannot fail.
    requireAssertions: true,
    poll: { timeout: TIMEOUT_MS, interval: 50 },
  },
};
