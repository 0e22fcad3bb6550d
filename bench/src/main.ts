/** `npm run bench`: measures the product beside its baselines. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { runUnits } from './dynamodb/runUnits.ts';
import { runWorstDay } from './dynamodb/runWorstDay.ts';
import { runLambda } from './lambda/runLambda.ts';
import { type Options, OptionsError, parseOptions, type SectionName, USAGE } from './options.ts';
import { runPayments } from './payments/runPayments.ts';
import { runPostgres } from './postgres/runPostgres.ts';
import { runRelayer } from './relayer/runRelayer.ts';
import { printReport } from './report/printReport.ts';
import { runGateway } from './runGateway.ts';
import { runSimulation } from './simulation/runSimulation.ts';

/** Each returns whether it has kept its targets, if anything was checked. */
const SECTIONS: Readonly<Record<SectionName, (options: Options) => Promise<boolean>>> = {
  gateway: async (options) => printReport(await runGateway(options), options),
  relayer: async (options) => printReport(await runRelayer(options), options),
  payments: async (options) => printReport(await runPayments(options), options),
  simulation: async (options) => printReport(await runSimulation(options), options),
  postgres: async (options) => printReport(await runPostgres(options), options),
  lambda: async (options) => printReport(await runLambda(options), options),
  dynamodb: (options) => (options.worstDay ? runWorstDay({ isCheck: options.check }) : runUnits(options)),
  gas: () => runScript('contracts/scripts/compareGas.ts', []),
  journal: ({ quick }) => runScript('sender/scripts/measureJournal.ts', quick ? ['--quick'] : []),
  backup: ({ backupArgs }) => runScript('gateway/scripts/measureBackup.ts', backupArgs),
};

async function runScript(path: string, args: readonly string[]): Promise<boolean> {
  const script = fileURLToPath(new URL(`../../packages/${path}`, import.meta.url));
  const [code] = await once(spawn(process.execPath, [script, ...args], { stdio: 'inherit' }), 'close');
  return code === 0;
}

/** Everything, one after another. */
async function runAll(options: Options): Promise<boolean> {
  const further = [['dynamodb', { ...options, worstDay: true, check: true }]] as const;
  const sections = Object.keys(SECTIONS) as SectionName[];
  let isKept = true;
  for (const [section, chosen] of [...sections.map((name) => [name, options] as const), ...further]) {
    const startedAt = performance.now();
    isKept = (await SECTIONS[section](chosen)) && isKept;
    console.error(`${section}: ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
  }
  return isKept;
}

async function run(options: Options): Promise<boolean> {
  if (!options.help) return await (options.section === 'all' ? runAll(options) : SECTIONS[options.section](options));
  console.log(USAGE);
  return true;
}

try {
  process.exitCode = (await run(parseOptions(process.argv.slice(2)))) ? 0 : 1;
} catch (error) {
  console.error(error instanceof OptionsError ? `${error.message}\n\n${USAGE}` : error);
  process.exitCode = 1;
}
