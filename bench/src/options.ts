import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';

/** Measures by the names that `--only` takes, in the order in which they run. */
export const measureNames = [
  'get',
  'post',
  'claim',
  'sign',
  'life',
  'feed',
  'race',
  'list',
  'chain',
  'memory',
] as const;
export type MeasureName = (typeof measureNames)[number];

/** What the command line asks for. */
export interface Options {
  readonly only: readonly MeasureName[];
  readonly runs: number;
  /** Smaller counts and a smaller backlog: shows that all works, no figures to publish. */
  readonly quick: boolean;
  readonly peers: boolean;
  readonly connections: number;
  readonly logLevel: string;
  /** Folder under which all data of the bench are made and removed. */
  readonly dir: string;
  /** File for the results as JSON. */
  readonly json?: string;
  /** Folder for CPU profiles of the gateways. */
  readonly profile?: string;
  readonly help: boolean;
}

const logLevels = ['debug', 'info', 'warn', 'error', 'silent'];

/** Text of `--help`. */
export const usage = `npm run bench -- [options]
npm run bench -- backup      a backup of 1 GB under 1,000 posts a second, and what it costs those who post
npm run bench -- dynamodb    read and write units (npm run bench -- dynamodb --worst-day: the dearest day that one address
                             can cause; --check after it compares the document that tells its figures)
npm run bench -- lambda      import time of the function, beside the DynamoDB client alone (npm run bench -- lambda ROUNDS)
npm run bench -- payments    payments a minute of the payment relayer, beside its two transactions sent raw
npm run bench -- webhooks    from report to delivery, and what draining 10,000 deliveries costs those who post
                             (npm run bench -- webhooks dynamodb: from report to delivery with STORE=dynamodb)
npm run bench -- relayer     requests a second, gas and conflicts of relayers (--help tells its options)
backup, payments, webhooks and relayer take --quick too: little is measured and nothing judged, to see that all works.

  --only LIST        of ${measureNames.join(',')} (default: all)
  --peers            also graphile-worker on PostgreSQL and BullMQ on Redis, for "life"
  --runs N           runs of each measure and baseline, in turn (default 5; with --quick 2)
  --quick            smaller counts and a smaller backlog, to see that all works
  --connections N    keep-alive connections, one call at a time on each (default 32)
  --log-level LEVEL  LOG_LEVEL of the gateways (default info, as npm start has it)
  --dir DIR          where databases are made, and removed at the end (default: the system's temporary folder)
  --json FILE        write configuration and results there too
  --profile DIR      write a CPU profile of each gateway there (read it with Chromium's DevTools)
  --help             this text
`;

/** The command line cannot be understood; `message` says what to change. */
export class OptionsError extends Error {
  override readonly name = 'OptionsError';
  readonly code = 'BAD_OPTIONS';
}

/**
 * Reads the command line.
 *
 * @param args arguments after the script's name
 * @returns the options, with defaults filled in
 * @throws OptionsError (`BAD_OPTIONS`)
 */
export function parseOptions(args: readonly string[]): Options {
  const values = parseValues(args);
  return {
    only: values.only === undefined ? measureNames : values.only.split(',').map(toMeasureName),
    runs: toCount('--runs', values.runs ?? (values.quick ? '2' : '5')),
    quick: values.quick,
    peers: values.peers,
    connections: toCount('--connections', values.connections),
    logLevel: toLogLevel(values['log-level']),
    dir: values.dir,
    help: values.help,
    ...(values.json === undefined ? {} : { json: values.json }),
    ...(values.profile === undefined ? {} : { profile: values.profile }),
  };
}

function parseValues(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        only: { type: 'string' },
        peers: { type: 'boolean', default: false },
        runs: { type: 'string' },
        quick: { type: 'boolean', default: false },
        connections: { type: 'string', default: '32' },
        'log-level': { type: 'string', default: 'info' },
        dir: { type: 'string', default: tmpdir() },
        json: { type: 'string' },
        profile: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new OptionsError((error as Error).message, { cause: error });
  }
}

function toMeasureName(text: string): MeasureName {
  const name = measureNames.find((known) => known === text);
  if (name === undefined) throw new OptionsError(`--only ${text}: there are ${measureNames.join(', ')}.`);
  return name;
}

function toLogLevel(text: string): string {
  if (logLevels.includes(text)) return text;
  throw new OptionsError(`--log-level ${text}: there are ${logLevels.join(', ')}.`);
}

function toCount(option: string, text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 1000) {
    throw new OptionsError(`${option} ${text}: expected a whole number from 1 to 1000.`);
  }
  return count;
}
