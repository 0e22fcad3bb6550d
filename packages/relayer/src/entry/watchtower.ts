/** `prism watchtower`: watches over relayers, or goes through their past reports. */
import { waitForSignal } from '@prism-gateway/runtime';
import { CommandLineError, USAGE_STATUS, writeFailure } from '@prism-gateway/runtime/command-line';
import { createLogger, openLogOutput } from '@prism-gateway/runtime/logs';
import { runAudit } from '../watchtower/runAudit.ts';
import { startWatchtower } from '../watchtower/startWatchtower.ts';
import { watchtowerUsage } from '../watchtower/usage.ts';
import { parseWatchSettings } from '../watchtower/watchSettings.ts';
import { describeStartFailure } from './startFailure.ts';

async function watch(): Promise<number> {
  const settings = parseWatchSettings(process.env);
  const signal = waitForSignal();
  const output = openLogOutput();
  const log = createLogger({ level: settings.logLevel, write: output.write, now: Date.now });
  const watchtower = await startWatchtower({ settings, log, now: Date.now });
  const { address, metricsUrl } = watchtower;
  log.info({ watchtower: address, metrics: metricsUrl, enforce: settings.adminKey !== undefined }, 'started');
  log.info({ signal: await signal }, 'stopping');
  await watchtower.stop();
  log.info({}, 'stopped');
  await output.close();
  return 0;
}

async function main(): Promise<number> {
  const [command, ...args] = process.argv.slice(2);
  if (process.argv.includes('--help')) {
    console.log(watchtowerUsage);
    return 0;
  }
  if (command !== undefined && command !== 'audit') {
    const what = command.startsWith('-') ? 'option' : 'command';
    const sentence = `There is no ${what} ${command}: watchtower, or watchtower audit --since WHEN. Try --help.`;
    console.error(writeFailure(process.argv, sentence));
    return USAGE_STATUS;
  }
  try {
    if (command === undefined) return await watch();
    return await runAudit({ args, environment: process.env, print: (text) => console.log(text), now: Date.now });
  } catch (error) {
    const why = `The watchtower could not ${command ?? 'start'}. ${describeStartFailure(error)}`;
    console.error(writeFailure(process.argv, error instanceof CommandLineError ? error.message : why));
    // 1 says that a relayer has lied.
    return 2;
  }
}

process.exit(await main());
