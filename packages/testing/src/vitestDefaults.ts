import { fileURLToPath } from 'node:url';
import { PATIENCE_MS } from './patience.ts';
import { sized } from './testSize.ts';

/** A bound for what hangs, in milliseconds. It measures nothing: a machine under load takes many times as long as an idle one. */
const HANG_MS = sized({ small: 240_000, long: 3_600_000 });

/** What holds for the tests of every Vitest project here. */
export const vitestDefaults = {
  testTimeout: HANG_MS,
  hookTimeout: HANG_MS,
  setupFiles: ['ownTemporaryFolder.ts', 'seedProperties.ts'].map((file) =>
    fileURLToPath(new URL(file, import.meta.url)),
  ),
  expect: {
    // A test that asserts nothing cannot fail.
    requireAssertions: true,
    poll: { timeout: PATIENCE_MS, interval: 20 },
  },
};
