/** `prism simulate`: lives the whole world in virtual time, from one seed. */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { WorldEvent } from './core/eventLog.ts';
import { writeReport } from './report.ts';
import { type SimulationOptions, type SimulationResult, simulate } from './simulate.ts';
import { FAULTS, type Fault } from './world/faults.ts';

const usage = `Usage: prism simulate [OPTIONS]

Lives a world in virtual time: gateway, relayers, watchtower and users with their default settings, on a simulated chain,
network and disks. The same seed and options give the same world.

  --seed TEXT          all that is left to chance follows from it; default: a fresh one
  --hours N            virtual hours; default 2
  --faults LIST        all, none, or some of: ${FAULTS.join(', ')}; default all
  --relayers N         honest relayers; default 3
  --liars N            relayers that lie, each in its own way; default 0
  --users N            users; default 20
  --nodes N            nodes of the chain; default 3
  --block-seconds N    default 12
  --write-seconds N    a request every so many seconds on average; 0: none; default 10
  --expected           live the worlds of simulation/expected.json, whose breaches are known: one that no longer comes fails
  --stop               end at the first breach
  --report FILE        write its life as a page of HTML
  --log                print each event
  --story ID           print all events about a request or relayer at the end
  --help               this text

Exit status: 0 all holds; 1 something does not; 2 the command line is wrong.
`;

const writeTime = (atMs: number) => new Date(atMs).toISOString().slice(5, 23).replace('T', ' ');
const writeEvent = ({ atMs, kind, who, text }: WorldEvent) => `${writeTime(atMs)}  ${kind.padEnd(8)} ${who}: ${text}`;

/** Events of a story that are printed: how it began, and what came last. */
const FIRST_EVENTS = 10;
const LAST_EVENTS = 50;

function shorten(lines: readonly string[]): readonly string[] {
  const left = lines.length - FIRST_EVENTS - LAST_EVENTS;
  if (left <= 0) return lines;
  return [...lines.slice(0, FIRST_EVENTS), `  … ${left} more …`, ...lines.slice(-LAST_EVENTS)];
}

function describe(
  { seed, breaches, digest, events, counts, virtualMs, realMs, story }: SimulationResult,
  command: string,
): string {
  const speed = Math.round(virtualMs / realMs);
  const lines = [
    `seed ${seed}: ${(virtualMs / 3_600_000).toFixed(1)} virtual hours in ${(realMs / 1000).toFixed(1)} s, ${speed} virtual seconds a second`,
    `${events.length} events, digest ${digest.slice(0, 16)}`,
    ...Object.entries(counts).map(([name, count]) => `  ${name} ${count}`),
  ];
  for (const { invariant, text, about, atMs } of breaches) {
    lines.push('', `BREACH at ${writeTime(atMs)}  ${invariant}: ${text} (${about})`);
    lines.push(...shorten(story(about).map((event) => `  ${writeEvent(event)}`)));
  }
  lines.push(
    '',
    breaches.length === 0 ? 'All that must hold holds.' : `${breaches.length} breaches. Again: ${command}`,
  );
  return lines.join('\n');
}

/** The arguments that repeat a run: with the seed that was drawn. */
function writeArgs(args: readonly string[], seed: string): string {
  return args.some((arg) => arg.startsWith('--seed')) ? args.join(' ') : ['--seed', seed, ...args].join(' ');
}

/** The command line is wrong. */
class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly code = 'USAGE';
}

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const OPTIONS = {
  ...{ seed: text, hours: text, faults: text, relayers: text, liars: text, users: text, nodes: text },
  ...{ 'block-seconds': text, 'write-seconds': text, kinds: text, report: text, story: text },
  ...{ expected: flag, stop: flag, log: flag, help: flag },
} as const;

function readArgs(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'unknown');
  }
}

type Values = ReturnType<typeof readArgs>['values'];

/** @throws UsageError that names the option and what was expected */
function readOptions(values: Values, seed: string): SimulationOptions {
  const { faults = 'all' } = values;
  const names = faults === 'all' ? FAULTS : faults === 'none' ? [] : faults.split(',');
  const unknown = names.find((name) => !FAULTS.some((known) => known === name));
  if (unknown !== undefined) {
    throw new UsageError(`--faults: there is no ${unknown}; expected all, none, or some of ${FAULTS.join(', ')}`);
  }
  function readNumber(name: keyof Values, usual: number, least: number): number {
    const number = Number(values[name] ?? usual);
    if (Number.isFinite(number) && number >= least) return number;
    throw new UsageError(`--${name}: expected a number of at least ${least}`);
  }
  return {
    seed,
    hours: readNumber('hours', 2, 0),
    faults: new Set(names as readonly Fault[]),
    relayers: readNumber('relayers', 3, 1),
    liars: readNumber('liars', 0, 0),
    users: readNumber('users', 20, 2),
    nodes: readNumber('nodes', 3, 1),
    blockSeconds: readNumber('block-seconds', 12, 1),
    writeEverySeconds: readNumber('write-seconds', 10, 0),
    stopsAtBreach: values.stop === true,
    ...(values.kinds !== undefined && { kinds: values.kinds.split(',') }),
  };
}

interface ExpectedWorld {
  readonly seed: string;
  readonly hours: number;
  readonly options: readonly string[];
  readonly invariants: readonly string[];
  readonly reasons: readonly string[];
}

/** Lives the worlds whose breaches are known. @returns 1 if one shows others than it should */
async function runExpected(): Promise<number> {
  const file = new URL('../expected.json', import.meta.url);
  const worlds = JSON.parse(readFileSync(file, 'utf8')) as readonly ExpectedWorld[];
  let status = 0;
  for (const { seed, hours, options, invariants, reasons } of worlds) {
    const { values } = readArgs(['--seed', seed, '--hours', String(hours), ...options]);
    const result = await simulate(readOptions(values, seed));
    const found = [...new Set(result.breaches.map(({ invariant }) => invariant))].sort();
    const isSame = found.join() === [...invariants].sort().join();
    console.log(
      `seed ${seed}: ${isSame ? 'as expected' : 'NOT as expected'}: ${found.join(', ') || 'nothing'}. ${reasons.join(' ')}`,
    );
    if (!isSame) status = 1;
  }
  return status;
}

/** @throws UsageError */
async function main(args: readonly string[]): Promise<number> {
  const { values } = readArgs(args);
  if (values.help === true) {
    console.log(usage);
    return 0;
  }
  if (values.expected === true) return await runExpected();
  const { seed = String(Date.now() % 1_000_000) } = values;
  const result = await simulate({
    ...readOptions(values, seed),
    ...(values.log === true && { onEvent: (event) => console.log(writeEvent(event)) }),
    onProgress({ virtualMs, realMs, requests, ended, breaches }) {
      const speed = Math.round(virtualMs / realMs);
      const hours = (virtualMs / 3_600_000).toFixed(1);
      console.log(`${hours} h  ${requests} requests, ${ended} ended, ${breaches} breaches; ${speed} × real time`);
    },
  });
  const command = `prism simulate ${writeArgs(args, seed)}`;
  console.log(describe(result, command));
  if (values.report !== undefined) writeFileSync(values.report, writeReport(result, command));
  if (values.story !== undefined) console.log(result.story(values.story).map(writeEvent).join('\n'));
  return result.breaches.length === 0 ? 0 : 1;
}

try {
  process.exit(await main(process.argv.slice(2)));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`${error.message}. Try --help.`);
  process.exit(2);
}
