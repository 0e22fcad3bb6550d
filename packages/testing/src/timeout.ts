/**
 * How long a test waits for what must come, in milliseconds: long enough for a loaded machine, and shorter than the bound of a whole
 * test, so that the test says what it waited for in vain.
 */
export const TIMEOUT_MS = 180_000;
