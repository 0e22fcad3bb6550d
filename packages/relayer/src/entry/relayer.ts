/** `prism relayer`: the relayer as one process of Node.js, and what it reports of itself. */
import { CommandLineError, USAGE_STATUS, writeFailure } from '@prism-gateway/node/command-line';
import type { Logger } from '@prism-gateway/node/logs';
import { type CommandInput, explainRequest, showStatus } from './showStatus.ts';
import { describeStartFailure } from './startFailure.ts';

/** Works until it is stopped. What it needs is loaded here: the other commands start at once without it. */
async function run({ environment }: CommandInput): Promise<void> {
  const [{ waitForSignal }, { createLogger, openLogOutput }, { openTracing }, { findMisspelt }, ...own] =
    await Promise.all([
      import('@prism-gateway/node'),
      import('@prism-gateway/node/logs'),
      import('@prism-gateway/node/tracing'),
      import('@prism-gateway/node/settings'),
      import('../settings/settings.ts'),
      import('../startRelayer.ts'),
    ]);
  const [{ parseSettings, relayerSettings }, { startRelayer }] = own;
  const settings = parseSettings(environment);
  const signal = waitForSignal();
  const output = openLogOutput();
  const tracing = openTracing({
    environment,
    serviceName: 'prism-relayer',
    onFault: (reason) => logger.warn({ code: 'TRACES_NOT_DELIVERED', reason }, 'the collector takes no traces'),
  });
  const tracer = tracing?.tracer;
  const joined = tracer && { fields: tracer.logFields };
  const logger: Logger = createLogger({ level: settings.logLevel, write: output.write, now: Date.now, ...joined });
  for (const sentence of findMisspelt(relayerSettings, environment)) logger.warn({ code: 'SETTING' }, sentence);
  const relayer = await startRelayer({ settings, logger, now: Date.now, random: Math.random, tracer });
  const { address, metricsUrl } = relayer;
  const { host } = new URL(settings.gatewayUrl);
  logger.info({ relayer: address, metrics: metricsUrl, gateway: host, pid: process.pid }, 'started');
  logger.info({ signal: await signal }, 'stopping');
  await relayer.stop();
  await tracing?.close();
  logger.info({}, 'stopped');
  await output.close();
}

/** The words that may follow `relayer`, with the start of the sentence if each fails. */
const COMMANDS = new Map<
  string,
  { readonly act: (input: CommandInput) => void | Promise<void>; readonly failure: string }
>([
  ['status', { act: showStatus, failure: 'The status cannot be read.' }],
  ['explain', { act: explainRequest, failure: 'The request cannot be explained.' }],
]);

async function main(): Promise<number> {
  const [name = '', ...args] = process.argv.slice(2);
  if (process.argv.includes('--help')) {
    console.log((await import('../settings/usage.ts')).usage);
    return 0;
  }
  const command = COMMANDS.get(name);
  if (command === undefined && name !== '') {
    const what = name.startsWith('-') ? 'option' : 'command';
    const sentence = `There is no ${what} ${name}: relayer, relayer status or relayer explain REQUEST_ID. Try --help.`;
    console.error(writeFailure(process.argv, sentence));
    return USAGE_STATUS;
  }
  const { act, failure } = command ?? { act: run, failure: 'The relayer could not start.' };
  try {
    await act({ args, environment: process.env, print: (text) => console.log(text) });
    return 0;
  } catch (error) {
    if (error instanceof CommandLineError) {
      console.error(writeFailure(process.argv, error.message));
      return USAGE_STATUS;
    }
    console.error(writeFailure(process.argv, `${failure} ${describeStartFailure(error)}`));
    return 1;
  }
}

process.exit(await main());
