/** `npm run bench`: measures the gateway and its baselines. */
import { createCleanup } from './cleanup.ts';
import { OptionsError, parseOptions, usage } from './options.ts';
import { runBench } from './runBench.ts';

/** Benches of their own, by the first argument; each module runs when it is imported. */
const suites: Readonly<Record<string, () => Promise<unknown>>> = {
  backup: () => import('./backup/main.ts'),
  dynamodb: () => import('./dynamodb/main.ts'),
  lambda: () => import('./lambda/main.ts'),
  payments: () => import('./payments/main.ts'),
  relayer: () => import('./relayer/main.ts'),
  webhooks: () => import('./webhooks/main.ts'),
};

/** What the benches that have no options of their own take: flags and numbers. */
const wordsOf: Readonly<Record<string, RegExp>> = {
  backup: /^(--quick)?( ?--(megabytes|rate) [1-9]\d{0,5}){0,2}$/,
  dynamodb: /^(--worst-day( --check)?)?$/,
  lambda: /^(--quick|[1-9]\d{0,3})?$/,
  payments: /^(--quick)?$/,
  webhooks: /^(dynamodb)?( ?--quick)?$/,
};

/** Runs a bench of its own. @throws OptionsError for arguments that it does not take */
async function runSuite(name: string, start: () => Promise<unknown>, args: readonly string[]): Promise<void> {
  const words = wordsOf[name];
  if (words !== undefined && args.includes('--help')) {
    console.log(usage);
    return;
  }
  if (words !== undefined && !words.test(args.join(' ')))
    throw new OptionsError(`${name} does not take "${args.join(' ')}".`);
  await start();
}

/** 128 and SIGINT's number, as shells have it. */
const interruptedCode = 130;
let interrupted = false;

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2));
  if (options.help) {
    console.log(usage);
    return 0;
  }
  const cleanup = createCleanup();
  const interrupt = () => {
    interrupted = true;
    console.error('Interrupted: stopping what was started.');
    void cleanup.run().then(() => process.exit(interruptedCode));
  };
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  try {
    await runBench(options, cleanup);
    return 0;
  } finally {
    await cleanup.run();
  }
}

const [, , suiteName = '', ...suiteArgs] = process.argv;
const suite = suites[suiteName];

try {
  if (suite === undefined) process.exitCode = await main();
  else await runSuite(suiteName, suite, suiteArgs);
} catch (error) {
  if (error instanceof OptionsError) console.error(`${error.message}\n\n${usage}`);
  // What breaks because its children were stopped is no news.
  else if (!interrupted) console.error(error);
  process.exitCode = interrupted ? interruptedCode : 1;
}
