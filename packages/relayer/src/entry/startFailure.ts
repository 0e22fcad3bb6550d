interface CodedError extends Error {
  readonly code?: unknown;
}

/** Advice on the usual reasons, by the error's code. */
const ADVICE: Readonly<Record<string, string>> = {
  EADDRINUSE: 'METRICS_PORT is in use: set it to another port, to 0 for any free one, or to off.',
  EACCES: 'No permission for DATA_DIR, LOCK_DIR or METRICS_PORT: set them to what this user may use.',
  EROFS: 'DATA_DIR cannot be written: set it to a directory that can.',
  ENOTDIR: 'DATA_DIR is not a directory: set it to one.',
  EEXIST: 'DATA_DIR is not a directory: set it to one.',
  ENOSPC: 'The disk of DATA_DIR is full.',
  ERR_SQLITE_ERROR: 'The journal in DATA_DIR cannot be opened or written.',
  KEY_IN_USE: 'Another process sends with this key: stop it, or give this relayer a key of its own.',
  JOURNAL_LOCKED: 'Another process uses this journal: stop it, or set DATA_DIR to another directory.',
};

/**
 * Says why the relayer could not start, and what to do.
 *
 * @returns sentences without secrets
 */
export function describeStartFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, message } = error as CodedError;
  const advice = typeof code === 'string' ? ADVICE[code] : undefined;
  return advice === undefined ? message : `${advice} (${message})`;
}
