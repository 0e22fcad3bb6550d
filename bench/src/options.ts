import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';

/** Measures of the gateway by the names that `--only` takes, in the order in which they run. */
export const MEASURES = ['get', 'post', 'claim', 'sign', 'life', 'feed', 'list', 'memory'] as const;
export type MeasureName = (typeof MEASURES)[number];

/** Sections by the word that comes first, and the flags that each takes beside `--quick`; `gateway` is the one without a word. */
const SECTIONS = {
  gateway: ['only', 'peers', 'runs', 'connections', 'dir', 'profile'],
  backup: ['megabytes', 'rate'],
  dynamodb: ['worst-day', 'check'],
  gas: [],
  journal: [],
  lambda: [],
  payments: [],
  postgres: ['runs', 'connections', 'dir'],
  relayer: [],
  simulation: ['runs'],
} as const;
export type SectionName = keyof typeof SECTIONS;

/** Options of the command line. */
export interface Options {
  /** `all`: every section, one after another. */
  readonly section: SectionName | 'all';
  /** Little is measured and nothing checked: shows that all works. */
  readonly quick: boolean;
  readonly only: readonly MeasureName[];
  readonly runs: number;
  readonly peers: boolean;
  readonly connections: number;
  /** Folder under which databases are made and removed. */
  readonly dir: string;
  /** Folder for CPU profiles of the gateways. */
  readonly profile?: string;
  /** With `dynamodb`: the dearest day instead of the units, and whether the document is compared. */
  readonly worstDay: boolean;
  readonly check: boolean;
  /** With `backup`: the arguments of its script. */
  readonly backupArgs: readonly string[];
  readonly help: boolean;
}

/** Text of `--help`. */
export const USAGE = `npm run bench -- [SECTION] [options]

(no section)       the gateway beside its baselines
backup             a backup of 1 GB under 1,000 posts a second, and what it costs those who post (--megabytes N, --rate N)
dynamodb           read and write units of each call
                   (--worst-day: the dearest day that one address can cause; --check compares the document that has it)
gas                gas of a write, alone and in a batch of 50, beside OpenZeppelin's ERC2771Forwarder
journal            bytes of the sender's journal after a million writes
lambda             a cold start of the function, beside the DynamoDB client alone
payments           payments a minute of the payment relayer, beside its two transactions sent raw
postgres           lives a second on PostgreSQL, beside graphile-worker and what one would write in a week on the same server
relayer            requests a second, gas, conflicts and latency of relayers, over the real stack
simulation         virtual seconds a second of the simulated world, busy and idle
--all              every section and --peers, one after another

  --quick            small counts, nothing checked: shows that all works
  --only LIST        of ${MEASURES.join(',')} (default: all)
  --peers            also graphile-worker on PostgreSQL, for "life"
  --runs N           runs of each measure and baseline, in turn (default 5; with --quick 1)
  --connections N    keep-alive connections, one call at a time on each (default 32)
  --dir DIR          where databases are made, and removed at the end (default: the system's temporary folder)
  --profile DIR      write a CPU profile of each gateway there (read it with Chromium's DevTools)
`;

/** The command line cannot be understood; `message` says what to change. */
export class OptionsError extends Error {
  override readonly name = 'OptionsError';
  readonly code = 'BAD_OPTIONS';
}

/**
 * Reads the command line.
 *
 * @param args - arguments after the script's name
 * @returns the options, with defaults filled in
 * @throws OptionsError (`BAD_OPTIONS`)
 */
export function parseOptions(args: readonly string[]): Options {
  const { values, positionals } = parseValues(args);
  const [word, ...rest] = positionals;
  if (rest.length > 0) throw new OptionsError(`I do not know what "${rest.join(' ')}" means.`);
  const section = values.all ? 'all' : toSection(word);
  if (section !== 'all') refuseOthers(section, Object.keys(values));
  const { megabytes, rate, quick = false } = values;
  return {
    section,
    quick,
    only: values.only === undefined ? MEASURES : values.only.split(',').map(toMeasureName),
    runs: toCount('--runs', values.runs ?? (quick ? '1' : '5')),
    peers: values.peers === true || section === 'all',
    connections: toCount('--connections', values.connections ?? '32'),
    dir: values.dir ?? tmpdir(),
    ...(values.profile !== undefined && { profile: values.profile }),
    worstDay: values['worst-day'] === true,
    check: values.check === true,
    backupArgs: [
      ...(quick ? ['--quick'] : []),
      ...(megabytes === undefined ? [] : ['--megabytes', String(toCount('--megabytes', megabytes))]),
      ...(rate === undefined ? [] : ['--rate', String(toCount('--rate', rate))]),
    ],
    help: values.help === true,
  };
}

const TEXT = { type: 'string' } as const;
const FLAG = { type: 'boolean' } as const;

function parseValues(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        ...{ only: TEXT, runs: TEXT, connections: TEXT, dir: TEXT, profile: TEXT, megabytes: TEXT, rate: TEXT },
        ...{ all: FLAG, quick: FLAG, peers: FLAG, 'worst-day': FLAG, check: FLAG, help: FLAG },
      },
    });
  } catch (error) {
    throw new OptionsError((error as Error).message, { cause: error });
  }
}

function toSection(word = 'gateway'): SectionName {
  if (Object.hasOwn(SECTIONS, word)) return word as SectionName;
  throw new OptionsError(`"${word}" is no section: there are ${Object.keys(SECTIONS).join(', ')}.`);
}

function refuseOthers(section: SectionName, given: readonly string[]): void {
  const taken: readonly string[] = ['quick', 'help', ...SECTIONS[section]];
  const other = given.find((name) => !taken.includes(name));
  if (other !== undefined) throw new OptionsError(`${section} does not take "${other}".`);
}

function toMeasureName(text: string): MeasureName {
  const name = MEASURES.find((known) => known === text);
  if (name === undefined) throw new OptionsError(`--only ${text}: there are ${MEASURES.join(', ')}.`);
  return name;
}

function toCount(option: string, text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new OptionsError(`${option} ${text}: expected a whole number from 1 to 999999.`);
}
