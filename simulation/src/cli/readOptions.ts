import { parseArgs } from 'node:util';
import type { SimulationOptions } from '../simulate.ts';
import { FAULTS, type Fault, KINDS } from '../world/kinds.ts';

export const usage = `Usage: prism simulate [OPTIONS]

Lives a world in virtual time: gateway, relayers, watchtower and users with their default settings, on a simulated chain,
network and disks. The same seed and options give the same world.

  --seed TEXT          all that is left to chance follows from it; default: a fresh one
  --hours N            virtual hours; default 2
  --faults LIST        all, none, or some of: ${FAULTS.join(', ')}; default all
  --relayers N         honest relayers; default 3
  --liars N            relayers that lie, each in its own way; default 0
  --users N            users; default 20
  --kinds LIST         what users do; default all: ${[...new Set(KINDS)].join(', ')}
  --nodes N            nodes of the chain; default 3
  --block-seconds N    default 12
  --write-seconds N    a request every so many seconds on average; 0: none; default 10
  --pay-seconds N      a card payment every so many seconds on average; 0: none; default 60
  --receivers N        receivers of webhooks; default 1
  --apps N             apps that write by the SDK's user client, each on two devices with one key; default 1
  --stop-at NAME       end at the first breach of this invariant; any: of one at all
  --report FILE        write its life as a page of HTML
  --log                print each event
  --story ID           print all events about a request or relayer at the end
  --json               print what it has shown as one line of JSON
  --mutant WORD        spoil the program as the first mutant does whose file or change holds this word (npx prism mutate)
  --help               this text

Several worlds, each in a process of its own:
  --shrink NAME        leave out faults, actors and time as long as this invariant still breaks; print the smaller command
  --mutants WORD       spoil the programs as each mutant does that holds this word (npx prism mutate), and see that something breaks
  --nights             live fresh worlds until stopped; SIGINT prints what they have shown
  --ci                 live the worlds of simulation/expected.json, two hours each, one of them twice, and one of the commit's own. A breach that is not
                       expected fails, and so does an expected one that no longer comes
  --jobs N             worlds at a time; default 1, in --ci 2

Exit status: 0 all holds; 1 something does not; 2 the command line is wrong.
`;

/** The command line is wrong. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly code = 'USAGE';
}

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const OPTIONS = {
  ...{ seed: text, hours: text, faults: text, relayers: text, liars: text, users: text, nodes: text, kinds: text },
  ...{
    'block-seconds': text,
    'write-seconds': text,
    'pay-seconds': text,
    receivers: text,
    apps: text,
    'stop-at': text,
    report: text,
    story: text,
    mutant: text,
  },
  ...{ json: flag, log: flag, help: flag, shrink: text, mutants: text, nights: flag, ci: flag, jobs: text },
} as const;

export type Values = ReturnType<typeof readArgs>['values'];

/** @throws UsageError */
export function readArgs(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'unknown');
  }
}

/** Reads a list of names that are all known. @throws UsageError */
function readNames<T extends string>(option: string, given: string, known: readonly T[]): readonly T[] {
  return given.split(',').map((name) => {
    const found = known.find((each) => each === name);
    if (found !== undefined) return found;
    throw new UsageError(`--${option}: there is no ${name}; expected all, none, or some of ${known.join(', ')}`);
  });
}

/** @throws UsageError that names the option and what was expected */
export function readOptions(values: Values, seed: string): SimulationOptions {
  const { faults = 'all', kinds = 'all', 'stop-at': stopAt } = values;
  function readNumber(name: keyof Values, usual: number, least: number): number {
    const number = Number(values[name] ?? usual);
    if (Number.isFinite(number) && number >= least) return number;
    throw new UsageError(`--${name}: expected a number of at least ${least}`);
  }
  const chosen: readonly Fault[] =
    faults === 'all' ? FAULTS : faults === 'none' ? [] : readNames('faults', faults, FAULTS);
  return {
    seed,
    hours: readNumber('hours', 2, 0),
    faults: new Set(chosen),
    relayers: readNumber('relayers', 3, 1),
    liars: readNumber('liars', 0, 0),
    users: readNumber('users', 20, 2),
    nodes: readNumber('nodes', 3, 1),
    blockSeconds: readNumber('block-seconds', 12, 1),
    writeEverySeconds: readNumber('write-seconds', 10, 0),
    payEverySeconds: readNumber('pay-seconds', 60, 0),
    receivers: readNumber('receivers', 1, 0),
    apps: readNumber('apps', 1, 0),
    kinds: kinds === 'all' ? KINDS : readNames('kinds', kinds, KINDS),
    ...(stopAt !== undefined && { stopAt }),
  };
}

/** The arguments that give the same options. */
export function writeOptions(options: SimulationOptions): readonly string[] {
  const {
    seed,
    hours,
    faults,
    relayers,
    liars,
    users,
    nodes,
    blockSeconds,
    writeEverySeconds,
    kinds,
    payEverySeconds,
    receivers,
    apps,
  } = options;
  const list = (names: Iterable<string>, all: readonly string[]) => {
    const given = [...names];
    return given.length === 0 ? 'none' : given.length === all.length ? 'all' : given.join(',');
  };
  const named = {
    ...{ seed, hours, faults: list(faults, FAULTS), relayers, liars, users, nodes, kinds: list(kinds, KINDS) },
    ...{
      'block-seconds': blockSeconds,
      'write-seconds': writeEverySeconds,
      'pay-seconds': payEverySeconds,
      receivers,
      apps,
    },
  };
  return Object.entries(named).flatMap(([name, value]) => [`--${name}`, String(value)]);
}
