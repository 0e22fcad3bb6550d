/** `prism simulate`: lives the whole world in virtual time, from one seed. */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { WorldEvent } from './core/eventLog.ts';
import { writeReport } from './report.ts';
import { type SimulationResult, simulate } from './simulate.ts';
import { FAULTS, type Fault } from './world/faults.ts';

const usage = `Usage: prism simulate [OPTIONS]

Lives the whole world in virtual time: gateway, relayers, watchtower and users with their default settings, on a simulated chain,
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
  --stop               end at the first breach
  --report FILE        write its life as a page of HTML
  --log                print each event
  --story ID           print all events about a request or relayer at the end
  --help               this text

Exit status: 0 all holds; 1 something does not; 2 the command line is wrong.
`;

const writeTime = (atMs: number) => new Date(atMs).toISOString().slice(5, 23).replace('T', ' ');
const writeEvent = ({ atMs, kind, who, text }: WorldEvent) => `${writeTime(atMs)}  ${kind.padEnd(8)} ${who}: ${text}`;

/** Most events of a story that are printed. */
const STORY_EVENTS = 60;

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
    lines.push(
      ...story(about)
        .slice(0, STORY_EVENTS)
        .map((event) => `  ${writeEvent(event)}`),
    );
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

async function main(args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...{ seed: text, hours: text, faults: text, relayers: text, liars: text, users: text, nodes: text },
      ...{
        'block-seconds': text,
        'write-seconds': text,
        story: text,
        kinds: text,
        report: text,
        stop: flag,
        log: flag,
        help: flag,
      },
    },
  });
  if (values.help === true) {
    console.log(usage);
    return 0;
  }
  const { faults = 'all', seed = String(Date.now() % 1_000_000) } = values;
  const names = faults === 'all' ? FAULTS : faults === 'none' ? [] : faults.split(',');
  const unknown = names.find((name) => !FAULTS.some((known) => known === name));
  if (unknown !== undefined) {
    console.error(`--faults: there is no ${unknown}; expected all, none, or some of ${FAULTS.join(', ')}`);
    return 2;
  }
  const result = await simulate({
    seed,
    hours: Number(values.hours ?? 2),
    faults: new Set(names as readonly Fault[]),
    relayers: Number(values.relayers ?? 3),
    liars: Number(values.liars ?? 0),
    users: Number(values.users ?? 20),
    nodes: Number(values.nodes ?? 3),
    blockSeconds: Number(values['block-seconds'] ?? 12),
    writeEverySeconds: Number(values['write-seconds'] ?? 10),
    stopsAtBreach: values.stop === true,
    ...(values.kinds !== undefined && { kinds: values.kinds.split(',') }),
    ...(values.log === true && { onEvent: (event) => console.log(writeEvent(event)) }),
    onProgress({ virtualMs, realMs, requests, ended, breaches }) {
      console.log(
        `${(virtualMs / 3_600_000).toFixed(1)} h  ${requests} requests, ${ended} ended, ${breaches} breaches; ${Math.round(virtualMs / realMs)} × real time`,
      );
    },
  });
  const command = `prism simulate ${writeArgs(args, seed)}`;
  console.log(describe(result, command));
  if (values.report !== undefined) writeFileSync(values.report, writeReport(result, command));
  if (values.story !== undefined) console.log(result.story(values.story).map(writeEvent).join('\n'));
  return result.breaches.length === 0 ? 0 : 1;
}

process.exit(await main(process.argv.slice(2)));
