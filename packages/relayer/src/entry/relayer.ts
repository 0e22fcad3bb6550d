/** `npm run relayer`: the relayer as one process of Node.js. */
import { pino } from 'pino';
import { parseSettings, type Settings } from '../settings/settings.ts';
import { usage } from '../settings/usage.ts';
import { startRelayer } from '../startRelayer.ts';
import { describeStartFailure } from './startFailure.ts';

/** Within this time of a signal another one is taken for the same, in milliseconds: npm repeats a terminal's Ctrl-C. */
const REPEATED_SIGNAL_MS = 500;
/** 128 and the number of SIGINT, as shells have it. */
const INTERRUPTED = 130;

/** Waits for the signal to stop; one that comes later means: at once. */
function waitForSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    const take = (signal: NodeJS.Signals) => {
      firstAt ??= performance.now();
      if (performance.now() - firstAt > REPEATED_SIGNAL_MS) process.exit(INTERRUPTED);
      resolve(signal);
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, take);
  });
}

async function run(settings: Settings): Promise<void> {
  const signal = waitForSignal();
  const logger = pino({ level: settings.logLevel });
  const relayer = await startRelayer({ settings, logger, now: Date.now, random: Math.random });
  const { address, metricsUrl } = relayer;
  logger.info({ relayer: address, metrics: metricsUrl, gateway: new URL(settings.gatewayUrl).host }, 'started');
  logger.info({ signal: await signal }, 'stopping');
  await relayer.stop();
  logger.info('stopped');
}

async function main(): Promise<number> {
  if (process.argv.includes('--help')) {
    console.log(usage);
    return 0;
  }
  try {
    await run(parseSettings(process.env));
    return 0;
  } catch (error) {
    console.error(`The relayer could not start. ${describeStartFailure(error)}`);
    return 1;
  }
}

process.exit(await main());
