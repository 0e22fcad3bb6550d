import { execFile } from 'node:child_process';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Options } from '../options.ts';
import type { Report } from '../report/printReport.ts';
import type { ResultRow } from '../report/summariseRow.ts';

const main = fileURLToPath(new URL('../../../simulation/src/main.ts', import.meta.url));

/** The measured part of what `prism simulate --json` prints. */
interface Summary {
  readonly virtualMs: number;
  readonly realMs: number;
  readonly cpuMs: number;
}

/** Blocks of 12 s are the default; payment relayers are a part of every world in which somebody pays. */
const WORLDS: readonly {
  readonly title: string;
  readonly args: string;
  readonly hours: number;
  readonly least?: number;
}[] = [
  {
    title: 'a write every ten seconds',
    args: '--write-seconds 10 --pay-seconds 60 --kinds single',
    hours: 0.5,
    least: 300,
  },
  // Batches, pairs, hostile wallets and junk: half as many requests again.
  { title: 'all that users do, every ten seconds', args: '--write-seconds 10 --pay-seconds 60', hours: 0.5 },
  { title: 'idle', args: '--write-seconds 0 --pay-seconds 1000000', hours: 2, least: 2000 },
];

/** Lives one world in a process of its own. @returns virtual seconds a second */
async function live(args: string, hours: number): Promise<Summary> {
  const world = `--seed 1 --faults none --receivers 0 --apps 0 --hours ${hours} ${args} --json`;
  const command = [main, ...world.split(' ')];
  // A breach is no failure here.
  const { stdout } = await promisify(execFile)(process.execPath, command).catch((error: { stdout?: string }) => {
    if (error.stdout?.startsWith('{')) return { stdout: error.stdout };
    throw error;
  });
  return JSON.parse(stdout) as Summary;
}

/** Measures how fast virtual time passes in the simulated world. */
export async function runSimulation({ quick, runs }: Options): Promise<Report> {
  const rows: ResultRow[] = [];
  for (const { title, args, hours, least } of WORLDS) {
    const values: number[] = [];
    const ofProcessor: number[] = [];
    for (let run = 0; run < (quick ? 1 : Math.min(runs, 3)); run++) {
      const { virtualMs, realMs, cpuMs } = await live(args, quick ? 0.02 : hours);
      values.push(virtualMs / realMs);
      ofProcessor.push(Math.round(virtualMs / cpuMs));
    }
    const notes = [`of processor time: ${ofProcessor.join(', ')}`];
    const target = least === undefined ? {} : { target: { of: 'value', is: 'at least', bound: least } as const };
    rows.push({ title, unit: 'virtual s/s', values, ...target, notes });
  }
  const about = [
    'One gateway, three relayers, a watchtower, payment relayers and the gas monitor, blocks of 12 s, no faults, seed 1.',
    `Load of the machine: ${loadavg()
      .map((load) => load.toFixed(1))
      .join(', ')}.`,
  ];
  return { about, rows };
}
