/** `npm run bench -- relayer`: speed, gas and conflicts of the relayer over the real stack. */
import { cpus, release, totalmem, type } from 'node:os';
import { formatFigure } from '../report/formatFigure.ts';
import { formatTable } from '../report/formatTable.ts';
import { median } from '../report/median.ts';
import { BLOCK_MS, RUN_WRITES, type RunFigures } from './measureLatency.ts';
import { measureRelayer } from './measureRelayer.ts';
import { parseRelayerOptions, type RelayerBenchOptions, usage } from './options.ts';

/** The targets of the relayer. */
const TARGETS = { throughput: 0.5, gas: 0.7, conflicts: 0.1, runSeconds: 4, runTransactions: 3 } as const;
/** From POST to `success` at light load, in milliseconds: one block and a little, two blocks and a little. */
const LATENCY_TARGETS = { p50: BLOCK_MS + 150, p99: 2 * BLOCK_MS + 300 } as const;

/** The value below which a part of the figures lies. */
function percentile(figures: readonly number[], part: number): number {
  const sorted = figures.toSorted((a, b) => a - b);
  // An index of a list that is not empty.
  return sorted[Math.min(sorted.length - 1, Math.ceil(part * sorted.length) - 1)]!;
}

type Judged = { readonly cells: readonly string[]; readonly isMet: boolean };

function judgeLatency(figures: readonly number[], name: 'p50' | 'p99'): Judged {
  const value = percentile(figures, name === 'p50' ? 0.5 : 0.99);
  const target = LATENCY_TARGETS[name];
  const title = `POST to success at light load, ${name}, ms`;
  return { cells: [title, formatFigure(value), '', '', `≤ ${target}`], isMet: value <= target };
}

/** With one confirmation until all is reported; with more, a report waits for them: until all is carried out. */
function judgeRuns(figures: readonly RunFigures[], confirmations: 1 | 3): Judged {
  const value = ({ reportedSeconds, carriedOutSeconds }: RunFigures) =>
    confirmations === 1 ? reportedSeconds : carriedOutSeconds;
  const seconds = median(figures.map(value));
  const transactions = Math.max(...figures.map((each) => each.transactions));
  const { runSeconds, runTransactions } = TARGETS;
  const until = confirmations === 1 ? 'reported' : 'carried out';
  const title = `${RUN_WRITES} writes of a signer ${until}, ${confirmations} confirmation${confirmations === 1 ? '' : 's'}, s`;
  const cells = [
    title,
    formatFigure(seconds),
    `${transactions} transactions`,
    '',
    `≤ ${runSeconds}, ≤ ${runTransactions}`,
  ];
  return { cells, isMet: seconds <= runSeconds && transactions <= runTransactions };
}

function describeMachine(options: RelayerBenchOptions): string {
  const [processor] = cpus();
  return [
    `Machine: ${processor?.model.trim()}, ${cpus().length} cores, ${(totalmem() / 1e9).toFixed(0)} GB, ${type()} ${release()}; Node ${process.version}`,
    'Chain: Anvil, a block a transaction; gateway: SQLite, no rate limits; all on this machine, with the load generator',
    `Work: writes of 20 bytes by ${options.requests} users, one each; ${options.rounds} rounds after one to warm up; figures are medians`,
    'Raw sending: encode, sign and send from one account, 32 calls at once, until the last block. Relayer: MAX_IN_FLIGHT=512,',
    `MAX_BATCH_SIZE=50, from the first of 16 connections' POST to the last report. Conflicts: ${options.rivals} relayers as they are by default`,
    `Light load: one request at a time, ${options.light} of them, blocks of ${options.blockMs} ms, CONFIRMATIONS=1; runs: all posted at once`,
  ].join('\n');
}

async function run(options: RelayerBenchOptions): Promise<boolean> {
  const figures = await measureRelayer(options, (line) => console.error(line));
  const throughput = median(figures.throughputRatios);
  const gas = median(figures.gasRatios);
  const conflicts = median(figures.conflictsPerWin);
  const verdict = (isMet: boolean) => (isMet ? 'met' : 'MISSED');
  const { latencies, runs } = figures;
  const further = [
    ...(['p50', 'p99'] as const).map((name) => judgeLatency(latencies, name)),
    ...([1, 3] as const).map((confirmations) => judgeRuns(runs[confirmations], confirmations)),
  ];
  const rows = [
    ['Measure', 'Median', 'Baseline', 'Ratio', 'Target', ''],
    [
      'POST to reported, requests/s',
      formatFigure(median(figures.relayedPerSecond)),
      `${formatFigure(median(figures.rawPerSecond))} raw sending`,
      throughput.toFixed(2),
      `≥ ${TARGETS.throughput}`,
      verdict(throughput >= TARGETS.throughput),
    ],
    [
      'Gas a write, gathered up to 50',
      formatFigure(median(figures.batchGas)),
      `${formatFigure(median(figures.singleGas))} single`,
      gas.toFixed(2),
      `≤ ${TARGETS.gas}`,
      verdict(gas <= TARGETS.gas),
    ],
    [
      `409s a won claim, ${options.rivals} relayers`,
      conflicts.toFixed(2),
      '',
      '',
      `≤ ${TARGETS.conflicts}`,
      verdict(conflicts <= TARGETS.conflicts),
    ],
    ...further.map(({ cells, isMet }) => [...cells, verdict(isMet)]),
  ];
  console.log([describeMachine(options), '', ...formatTable(rows)].join('\n'));
  const isMet = throughput >= TARGETS.throughput && gas <= TARGETS.gas && conflicts <= TARGETS.conflicts;
  return options.quick || (isMet && further.every((each) => each.isMet));
}

const options = parseRelayerOptions(process.argv.slice(2).filter((argument) => argument !== 'relayer'));
if (options === undefined) console.log(usage);
else process.exitCode = (await run(options)) ? 0 : 1;
