/** `npx prism gas-monitor`: warns before a relayer runs dry. */

import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createOutbox, createRedactor, openChannels } from '@prism-gateway/alerts';
import { openAccount } from '@prism-gateway/crypto/accounts';
import { lockFile, makeDirectory, serveMetrics, waitForSignal } from '@prism-gateway/runtime';
import { CommandLineError, parseCommandLine, USAGE_STATUS, writeFailure } from '@prism-gateway/runtime/command-line';
import { createLogger, openLogOutput } from '@prism-gateway/runtime/logs';
import { type Address, createPublicClient } from 'viem';
import { guideAlert } from '../alerts/guideAlert.ts';
import { connectNode } from '../chain/connectNode.ts';
import { createMonitor, type MonitorTarget } from '../monitor/createMonitor.ts';
import { createMonitorMetrics } from '../monitor/createMonitorMetrics.ts';
import { lookOnce, writeBalance } from '../monitor/lookOnce.ts';
import { openMonitorStore } from '../monitor/openMonitorStore.ts';
import { formatAmount, formatStablecoins } from '../payments/formatAmount.ts';
import { parseSettings, type Settings } from '../settings/settings.ts';
import { gasMonitorUsage } from '../settings/usage.ts';
import { secretsOf } from './secretsOf.ts';

/** Time for the last alerts, in milliseconds. */
const ALERT_DRAIN_MS = 5000;
/** A payment takes a buy and a transfer. */
const PAYMENT_TRANSACTIONS = 2;

async function listOwnAddresses(settings: Settings<'gas-monitor'>): Promise<readonly Address[]> {
  const {
    RELAYER_PRIVATE_KEY: key,
    RELAYER_KEYSTORE: keystore,
    RELAYER_KEYSTORE_PASSWORD: keystorePassword,
  } = settings;
  if (key === undefined && keystore === undefined) return settings.RELAYER_ADDRESSES;
  // The schema has checked the key's digits.
  const { address } = await openAccount({ privateKey: key as `0x${string}` | undefined, keystore, keystorePassword });
  return [...new Set([address, ...settings.RELAYER_ADDRESSES])];
}

async function listTargets(settings: Settings<'gas-monitor'>, signal: AbortSignal): Promise<readonly MonitorTarget[]> {
  const node = { timeoutMs: settings.RPC_TIMEOUT_MS, attempts: 2, signal };
  const connect = (rpcUrl: string) => createPublicClient({ transport: connectNode({ ...node, rpcUrl }) });
  const others = settings.gasTargets.map(({ name, rpcUrl, addresses }) => ({
    name,
    client: connect(rpcUrl),
    addresses,
    unit: { name: 'requests', transactions: 1 } as const,
  }));
  if (settings.RPC_URL === undefined) return others;
  const { STABLECOIN_ADDRESS: stablecoin, EXCHANGE_ADDRESS: exchange } = settings;
  const isForPayments = exchange !== undefined;
  const own: MonitorTarget = {
    name: settings.CHAIN_ID === 0 ? 'the chain of RPC_URL' : `chain ${settings.CHAIN_ID}`,
    client: connect(settings.RPC_URL),
    chainId: settings.CHAIN_ID === 0 ? undefined : settings.CHAIN_ID,
    addresses: await listOwnAddresses(settings),
    tokens: stablecoin === undefined ? undefined : { stablecoin, exchange },
    unit: isForPayments
      ? { name: 'payments', transactions: PAYMENT_TRANSACTIONS }
      : { name: 'requests', transactions: 1 },
  };
  return [own, ...others];
}

/** A chain that nobody uses, as a developer's own, may have no blocks for long. */
const DEFAULT_HEAD_AGE_SECONDS = { dev: 0, prod: 600 } as const;

async function watch(settings: Settings<'gas-monitor'>): Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const stopped = waitForSignal().then(() => stopping.abort());
  const redact = createRedactor(secretsOf(settings));
  const output = openLogOutput();
  const log = createLogger({ level: settings.LOG_LEVEL, write: output.write, now: Date.now, redact });
  // Two of one folder would tell everything twice.
  makeDirectory(settings.DATA_DIR);
  const lock = lockFile(join(settings.DATA_DIR, 'gas-monitor.lock'));
  const store = openMonitorStore({ file: join(settings.DATA_DIR, 'gas-monitor.db'), now: Date.now });
  const { INSTANCE_NAME: name = hostname() } = settings;
  const alerter = createOutbox({
    outbox: store.outbox,
    channels: openChannels(settings),
    log,
    redact,
    signature: `Gas monitor ${name}.`,
    guide: guideAlert,
    now: Date.now,
  });
  const targets = await listTargets(settings, signal);
  const metrics = createMonitorMetrics({
    chains: targets.map(({ name }) => name),
    warnBelow: settings.GAS_WARN_BALANCE_ETH,
    warnStablecoinsBelow: settings.STABLECOIN_WARN_BALANCE,
  });
  const { METRICS_HOST: host, METRICS_PORT: port } = settings;
  const { registry } = metrics;
  const server = port === 'off' ? undefined : await serveMetrics({ registry, host, port });
  if (server !== undefined) log.info({ metrics: server.url }, 'metrics are served');
  const look = createMonitor({
    targets,
    metrics,
    warnBelow: settings.GAS_WARN_BALANCE_ETH,
    warnStablecoinsBelow: settings.STABLECOIN_WARN_BALANCE,
    maxHeadAgeMs: (settings.MAX_HEAD_AGE_SECONDS ?? DEFAULT_HEAD_AGE_SECONDS[settings.STAGE]) * 1000,
    store,
    alerter,
    log,
    now: Date.now,
    monotonicNow: () => performance.now(),
  });
  const told = targets.map(({ name, addresses }) => ({ name, addresses }));
  log.info({ targets: told, limits: writeLimits(settings) }, 'gas monitor at work');
  while (!signal.aborted) {
    await look();
    await pause(settings.GAS_POLL_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
  }
  await stopped;
  await server?.close();
  await alerter.drain(ALERT_DRAIN_MS);
  alerter.close();
  store.close();
  lock.release();
  await output.close();
}

/** In units that people read: a limit in another unit than was meant is seen by that. */
function writeLimits({
  GAS_WARN_BALANCE_ETH: gas,
  STABLECOIN_WARN_BALANCE: stablecoins,
}: Settings<'gas-monitor'>): string {
  return `Warns below ${formatAmount(gas, 18)} ETH and ${formatStablecoins(stablecoins)} stablecoins.`;
}

/** Prints what each account has. @returns 1 where something is low */
async function tell(settings: Settings<'gas-monitor'>, isJson: boolean): Promise<number> {
  const { GAS_WARN_BALANCE_ETH: warnBelow, STABLECOIN_WARN_BALANCE: warnStablecoinsBelow } = settings;
  const targets = await listTargets(settings, new AbortController().signal);
  const balances = await lookOnce({ warnBelow, warnStablecoinsBelow }, targets);
  const ok = balances.every(({ isLow }) => !isLow);
  console.log(
    isJson ? JSON.stringify({ ok, balances }) : [...balances.map(writeBalance), writeLimits(settings)].join('\n'),
  );
  return ok ? 0 : 1;
}

async function main(): Promise<number> {
  let redact = (text: string) => text;
  try {
    const options = { once: { type: 'boolean' }, json: { type: 'boolean' }, help: { type: 'boolean' } } as const;
    const {
      once = false,
      json = false,
      help = false,
    } = parseCommandLine({ options, args: process.argv.slice(2) }).values;
    if (help) {
      console.log(gasMonitorUsage);
      return 0;
    }
    const settings = parseSettings('gas-monitor', process.env);
    redact = createRedactor(secretsOf(settings));
    if (once) return await tell(settings, json);
    await watch(settings);
    return 0;
  } catch (error) {
    if (error instanceof CommandLineError) {
      console.error(writeFailure(process.argv, error.message));
      return USAGE_STATUS;
    }
    const why = redact(error instanceof Error ? error.message : 'unknown');
    console.error(writeFailure(process.argv, `The gas monitor stops. ${why}`));
    return 1;
  }
}

// What this program writes is nobody else's business.
process.umask(0o077);
process.exit(await main());
