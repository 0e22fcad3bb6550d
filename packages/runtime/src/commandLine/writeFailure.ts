/** Exit status of a command line that is wrong, in every program; as getopt and most shells have it. */
export const USAGE_STATUS = 2;

/**
 * Writes what has gone wrong for whoever reads: with `--json` one line as the API's errors are, else the sentence.
 *
 * @param args - the command line
 * @param sentence - for people
 */
export const writeFailure = (args: readonly string[], sentence: string): string =>
  args.includes('--json') ? JSON.stringify({ error: sentence }) : sentence;
