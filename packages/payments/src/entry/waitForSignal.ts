/** Within this time of a signal another one is taken for the same, in milliseconds: npm repeats a terminal's Ctrl-C. */
const REPEATED_SIGNAL_MS = 500;

/**
 * Waits for the signal to stop; a second one, later, ends the process at once.
 *
 * @returns the signal's name
 */
export function waitForSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    const take = (signal: NodeJS.Signals) => {
      firstAt ??= performance.now();
      if (performance.now() - firstAt > REPEATED_SIGNAL_MS) process.exit(130);
      resolve(signal);
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, take);
  });
}
