/** Within this time of a signal another one is taken for the same, in milliseconds: npm repeats a terminal's Ctrl-C. */
const REPEATED_SIGNAL_MS = 500;
/** The exit code of an interrupted process: 128 and the number of SIGINT, as shells have it. */
const INTERRUPTED = 130;

/**
 * Waits for the signal to stop, SIGINT or SIGTERM. A second one, later, ends the process at once.
 *
 * @param options.now - milliseconds of a clock that is never set
 * @example
 * const stopped = waitForSignal();
 * const server = await startServer();
 * logger.info({ signal: await stopped }, 'stopping');
 * await server.close();
 */
export function waitForSignal(options: { readonly now?: () => number } = {}): Promise<NodeJS.Signals> {
  const { now = () => performance.now() } = options;
  return new Promise((resolve) => {
    let firstAtMs: number | undefined;
    const take = (signal: NodeJS.Signals) => {
      firstAtMs ??= now();
      if (now() - firstAtMs > REPEATED_SIGNAL_MS) process.exit(INTERRUPTED);
      resolve(signal);
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, take);
  });
}
