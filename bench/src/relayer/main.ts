/** `npm run bench -- relayer`: speed, gas and conflicts of the relayer over the real stack. */
import { cpus, release, totalmem, type } from 'node:os';
import { formatFigure } from '../report/formatFigure.ts';
import { formatTable } from '../report/formatTable.ts';
import { median } from '../report/median.ts';
import { measureRelayer } from './measureRelayer.ts';
import { parseRelayerOptions, type RelayerBenchOptions, usage } from './options.ts';

/** The targets of the relayer. */
const TARGETS = { throughput: 0.5, gas: 0.7, conflicts: 0.2 } as const;

function describeMachine(options: RelayerBenchOptions): string {
  const [processor] = cpus();
  return [
    `Machine: ${processor?.model.trim()}, ${cpus().length} cores, ${(totalmem() / 1e9).toFixed(0)} GB, ${type()} ${release()}; Node ${process.version}`,
    'Chain: Anvil, a block a transaction; gateway: SQLite, no rate limits; all on this machine, with the load generator',
    `Work: writes of 20 bytes by ${options.requests} users, one each; ${options.rounds} rounds after one to warm up; figures are medians`,
    'Raw sending: encode, sign and send from one account, 32 calls at once, until the last block. Relayer: MAX_IN_FLIGHT=512,',
    `MAX_BATCH_SIZE=50, from the first of 16 connections' POST to the last report. Conflicts: ${options.rivals} relayers as they are by default`,
  ].join('\n');
}

async function run(options: RelayerBenchOptions): Promise<boolean> {
  const figures = await measureRelayer(options, (line) => console.error(line));
  const throughput = median(figures.throughputRatios);
  const gas = median(figures.gasRatios);
  const conflicts = median(figures.conflictsPerWin);
  const verdict = (isMet: boolean) => (isMet ? 'met' : 'MISSED');
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
  ];
  console.log([describeMachine(options), '', ...formatTable(rows)].join('\n'));
  return options.quick || (throughput >= TARGETS.throughput && gas <= TARGETS.gas && conflicts <= TARGETS.conflicts);
}

const options = parseRelayerOptions(process.argv.slice(2).filter((argument) => argument !== 'relayer'));
if (options === undefined) console.log(usage);
else process.exitCode = (await run(options)) ? 0 : 1;
