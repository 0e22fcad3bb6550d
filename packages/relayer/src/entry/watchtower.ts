/** `prism watchtower`: watches over relayers, or goes through their past reports. */
import { waitForSignal } from '@prism-gateway/runtime';
import { CommandLineError, USAGE_STATUS, writeFailure } from '@prism-gateway/runtime/command-line';
import { createLogger, openLogOutput } from '@prism-gateway/runtime/logs';
import { runAudit } from '../watchtower/runAudit.ts';
import { startWatchtower } from '../watchtower/startWatchtower.ts';
import { parseWatchSettings } from '../watchtower/watchSettings.ts';
import { describeStartFailure } from './startFailure.ts';

/** What `npm run watchtower -- --help` prints. */
const watchtowerUsage = `Prism watchtower: npx prism watchtower

Compares what relayers report with what the chain shows, by the digest of each request. Settings are environment variables.

  npx prism watchtower                         watches until SIGTERM or SIGINT; its log is JSON, a line an event
  npx prism watchtower audit --since WHEN      goes through what was posted since WHEN, prints a table, and ends with 1 where
                                               a relayer has lied. WHEN is a time like 2026-01-31T00:00:00Z, or 24h, or 7d.
                                               With --json one line of JSON

  GATEWAY_URL          http://127.0.0.1:8787   the gateway
  RELAYER_PRIVATE_KEY                          a key of its own, whose address is on the gateway's whitelist: lists of all
                                               requests are for such alone. It claims nothing. Or an encrypted keystore:
  RELAYER_KEYSTORE, RELAYER_KEYSTORE_PASSWORD  path of the file, and its password
  CHAIN_NAME, RPC_URL, FORWARDER_ADDRESS       the chain; or RELAYER_CHAINS, as the relayer has it
  CONFIRMATIONS        3 (1 on chain 31337)    blocks that settle a transaction, as the relayers have it
  LEASE_SECONDS        900                     how long a claim may be held, as CLAIM_LEASE_SECONDS of the gateway
  POLL_MS              1000                    pause between two looks

What it does about lies:
  ENFORCE              false                   true: suspends the relayer, releases what it holds, and posts again what was
                                               falsely reported as done
  ADMIN_API_KEY                                the gateway's, with ENFORCE=true
  SMTP_URL, ALERT_EMAIL_FROM, ALERT_EMAIL_TO   alerts by e-mail
  ALERT_CHAT_WEBHOOK_URL, ALERT_CHAT_FORM, ALERT_CHAT_ID    alerts in a chat: auto, slack, discord, teams or telegram
  ALERT_WEBHOOK_URL, ALERT_WEBHOOK_SECRET      alerts to a program of one's own

How it runs:
  DATA_DIR             ./data/watchtower       its journals
  METRICS_PORT         9467                    /metrics (Prometheus), /health; 0 = any free port, or off
  METRICS_HOST         127.0.0.1               another address only in a network of your own
  LOG_LEVEL            info                    debug, info, warn, error or silent
`;

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
