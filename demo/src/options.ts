import { CommandLineError, parseCommandLine } from '@prism-gateway/node/command-line';
import { MIN_OWN_REQUESTS, MULTI_USER_BATCHES } from './plan/script.ts';

/** Options of the command line. */
export interface DemoOptions {
  /** How many requests are submitted in all, the multi-user batches included. */
  readonly requests: number;
  readonly users: number;
  /** Leaves everything running at the end, until Ctrl-C. */
  readonly keep: boolean;
  /** Prints a line for each request at the end. */
  readonly verbose: boolean;
  readonly help: boolean;
}

const MIN_USERS = 2;
const MAX_USERS = 50;
/** A relayer looks for the nonce of a signature up to 64 ahead of the chain's. */
const MAX_OWN_REQUESTS = 60;

/** The output of `npm run demo -- --help`. */
export const usage = `Plays the whole loop on this machine: npm run demo

A development chain, the contracts, the gateway, two relayers; users without any ether sign requests over all twelve actions; one
relayer is killed with SIGKILL midway and started again. At the end everything is read back from the chain and compared with what
was signed; and a third relayer lies, is found by the watchtower, and is suspended. The exit code is 0 only if all of it is as it must be.

  --keep          leave it running to play with, until Ctrl-C      npm run demo -- --keep
  --verbose       a line for each request at the end
  --requests N    how many requests; default 200; from ${MIN_OWN_REQUESTS} to ${MAX_OWN_REQUESTS} a user, and ${MULTI_USER_BATCHES} multi-user batches
  --users N       how many users; default 10; from ${MIN_USERS} to ${MAX_USERS}
  --help          this text
`;

const given = {
  requests: { type: 'string', default: '200' },
  users: { type: 'string', default: '10' },
  keep: { type: 'boolean', default: false },
  verbose: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false, short: 'h' },
} as const;

function readCount(option: {
  readonly name: string;
  readonly text: string;
  readonly min: number;
  readonly max: number;
  /** The setting that the bounds depend on. */
  readonly where?: string;
}): number {
  const { name, text, min, max } = option;
  const count = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= min && count <= max) return count;
  throw new CommandLineError(
    `--${name}: expected a whole number from ${min} to ${max}${option.where ?? ''}. Try --help.`,
  );
}

/**
 * Parses the command line.
 *
 * @param args - without the program's name
 * @throws CommandLineError
 */
export function parseOptions(args: readonly string[]): DemoOptions {
  const { keep, verbose, help, ...texts } = parseCommandLine({ args: [...args], options: given }).values;
  const users = readCount({ name: 'users', text: texts.users, min: MIN_USERS, max: MAX_USERS });
  const bounds = {
    min: users * MIN_OWN_REQUESTS + MULTI_USER_BATCHES,
    max: users * MAX_OWN_REQUESTS + MULTI_USER_BATCHES,
    where: ` with ${users} users`,
  };
  const requests = readCount({ name: 'requests', text: texts.requests, ...bounds });
  return { requests, users, keep, verbose, help };
}
