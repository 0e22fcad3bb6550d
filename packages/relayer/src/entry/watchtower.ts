/** `prism watchtower`: watches over relayers, or goes through their past reports. */
import { waitForSignal } from '@prism-gateway/node';
import { CommandLineError, USAGE_STATUS, writeFailure } from '@prism-gateway/node/command-line';
import { createLogger, openLogOutput } from '@prism-gateway/node/logs';
import { findMisspelt, writeSettingsHelp } from '@prism-gateway/node/settings';
import { runAudit } from '../watchtower/runAudit.ts';
import { startWatchtower } from '../watchtower/startWatchtower.ts';
import { parseWatchSettings, watchtowerSettings } from '../watchtower/watchSettings.ts';
import { describeStartFailure } from './startFailure.ts';

/** The output of `npx prism watchtower --help`. */
const watchtowerUsage = `Prism watchtower: npx prism watchtower

Compares what relayers report with what the chain shows, by the digest of each request. Settings are environment variables.

  npx prism watchtower                         watches until SIGTERM or SIGINT; its log is JSON, a line an event
  npx prism watchtower audit --since WHEN      goes through what was posted since WHEN, prints a table, and ends with 1 where
                                               a relayer has lied. WHEN is a time like 2026-01-31T00:00:00Z, or 24h, or 7d.
                                               With --json one line of JSON

Its key is one of its own, whose address is on the gateway's whitelist: lists of all requests are for such alone. It claims nothing.

${writeSettingsHelp(watchtowerSettings)}
`;

async function watch(): Promise<number> {
  const settings = parseWatchSettings(process.env);
  const signal = waitForSignal();
  const output = openLogOutput();
  const log = createLogger({ level: settings.logLevel, write: output.write, now: Date.now });
  for (const sentence of findMisspelt(watchtowerSettings, process.env)) log.warn({ code: 'SETTING' }, sentence);
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
