import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createTurns } from '@prism-gateway/runtime';
import type { Logger } from '@prism-gateway/runtime/logs';
import { openSender, type SenderAccount, type SenderEvent } from '@prism-gateway/sender';
import { createPublicClient, http } from 'viem';
import type { Alerter } from '../alerts/createAlerter.ts';
import { createMarkSearch } from '../chain/createMarkSearch.ts';
import { createPayoutFence } from '../chain/createPayoutFence.ts';
import { createUnknownPayouts } from '../chain/createUnknownPayouts.ts';
import { createFrontendClient } from '../frontend/createFrontendClient.ts';
import { openPaymentJournal, type PaymentJournal } from '../journal/openPaymentJournal.ts';
import { createDayLimit } from '../limits/createDayLimit.ts';
import { createReadiness } from '../readiness/createReadiness.ts';
import type { Settings } from '../settings/settings.ts';
import { createPoller } from './createPoller.ts';
import { resumePayments } from './drivePayment.ts';
import { holdUnknown } from './holdPayment.ts';
import type { RelayerConfig } from './relayerConfig.ts';
import { createMemory, type RelayerContext } from './relayerContext.ts';

/** A payment relayer at work. */
export interface RunningRelayer {
  readonly journal: PaymentJournal;
  /** Claims no more, gives what is under way some time, and stops; nothing is lost: the next start goes on. */
  stop(drainMs: number): Promise<void>;
}

/** What a payment relayer is made of. */
export interface RelayerParts {
  readonly settings: Settings<'payments'>;
  readonly account: SenderAccount;
  readonly alerter: Alerter;
  readonly log: Logger;
}

/** Longest time between a look at the chain and a payout's broadcast, in milliseconds. */
const FRESH_MS = 2000;

function readConfig({ settings, account }: RelayerParts): RelayerConfig {
  return {
    exchange: settings.EXCHANGE_ADDRESS,
    creditToken: settings.CREDIT_TOKEN_ADDRESS,
    stablecoin: settings.STABLECOIN_ADDRESS,
    self: account.address,
    others: settings.RELAYER_ADDRESSES.filter((address) => address !== account.address),
    pollIntervalMs: settings.POLL_INTERVAL_MS,
    maxGasPrice: settings.MAX_FEE_GWEI,
    maxRetries: settings.MAX_RETRIES,
    retryDelayMs: settings.RETRY_DELAY_MS,
    slippageBps: settings.SLIPPAGE_BPS,
    maxPayment: settings.MAX_PAYMENT,
    dailyLimit: settings.DAILY_LIMIT,
    maxInFlight: settings.MAX_IN_FLIGHT,
    takeoverWaitMs: settings.TAKEOVER_WAIT_MS,
    rpcPollIntervalMs: settings.RPC_POLL_INTERVAL_MS,
  };
}

function openJournal(settings: Settings<'payments'>): PaymentJournal {
  mkdirSync(settings.DATA_DIR, { recursive: true, mode: 0o700 });
  return openPaymentJournal({ file: join(settings.DATA_DIR, 'payments.db'), now: Date.now });
}

function logEvent(log: Logger, event: SenderEvent): void {
  // Amounts are bigints, which JSON does not know.
  const fields = Object.fromEntries(
    Object.entries(event).map(([name, value]) => [name, typeof value === 'bigint' ? `${value}` : value]),
  );
  log.debug(fields, 'sender');
}

function openChain(
  { settings, account }: RelayerParts,
  wiring: { readonly config: RelayerConfig; readonly journal: PaymentJournal; readonly signal: AbortSignal },
) {
  const { config, journal, signal } = wiring;
  const { creditToken, stablecoin, others, self } = config;
  const transport = http(settings.RPC_URL, { batch: true, timeout: settings.RPC_TIMEOUT_MS, retryCount: 2 });
  const client = createPublicClient({ transport, pollingInterval: config.rpcPollIntervalMs });
  const monotonicNow = () => performance.now();
  const { marks } = journal;
  const search = createMarkSearch({
    client,
    marks,
    broadcasts: journal.broadcasts,
    self,
    creditToken,
    stablecoin,
    relayers: [self, ...others],
    fromBlock: settings.SEARCH_FROM_BLOCK,
    reorgDepth: settings.REORG_DEPTH,
    monotonicNow,
    signal,
  });
  const fence = createPayoutFence({
    rpcUrl: settings.RPC_URL,
    timeoutMs: settings.RPC_TIMEOUT_MS,
    client,
    creditToken,
    account,
    others,
    marks,
    broadcasts: journal.broadcasts,
    search,
    standMs: config.takeoverWaitMs,
    freshMs: Math.min(FRESH_MS, settings.RPC_TIMEOUT_MS),
    monotonicNow,
  });
  return { client, search, fence };
}

/**
 * Starts the payment relayer.
 *
 * @param parts - settings, key, alerts and log
 * @returns the relayer, at work
 * @throws SenderError where key, journal or chain cannot be used; viem's errors
 * @see docs/specification.md PAY-1
 */
export async function startRelayer(parts: RelayerParts): Promise<RunningRelayer> {
  const { settings, alerter, log } = parts;
  const config = readConfig(parts);
  const journal = openJournal(settings);
  const stopping = new AbortController();
  const { client, search, fence } = openChain(parts, { config, journal, signal: stopping.signal });
  const journalPath = join(settings.DATA_DIR, 'sender.db');
  if (journal.fact('sender journal') !== undefined && !existsSync(journalPath)) holdUnknown({ journal, alerter });
  const sender = await openSender({
    journalPath,
    rpcUrl: fence.transport,
    account: fence.account,
    maxFeePerGas: config.maxGasPrice,
    bumpAfterMs: settings.BUMP_AFTER_MS,
    pollIntervalMs: config.rpcPollIntervalMs,
    rpcTimeoutMs: settings.RPC_TIMEOUT_MS,
    onEvent: (event) => logEvent(log, event),
    ...(settings.CHAIN_ID === 0 ? {} : { chainId: settings.CHAIN_ID }),
  });
  journal.setFact('sender journal', 'made');
  const context: RelayerContext = {
    config,
    journal,
    sender,
    client,
    search,
    fence,
    reorgDepth: settings.REORG_DEPTH,
    frontend: createFrontendClient({
      url: settings.FRONTEND_URL,
      secret: settings.RELAYER_SECRET,
      timeoutMs: settings.RPC_TIMEOUT_MS,
    }),
    alerter,
    log,
    now: Date.now,
    signal: stopping.signal,
    decide: createTurns(),
    readiness: createReadiness({ config, client, sender, journal, log, now: Date.now, signal: stopping.signal }),
    dayLimit: createDayLimit({ journal, dailyLimit: config.dailyLimit, now: Date.now }),
    unknownPayouts: createUnknownPayouts({ sender, journal, creditToken: config.creditToken }),
    memory: createMemory(),
  };
  const poller = createPoller(context);
  resumePayments(context, poller.resume);
  const polling = poller.run();
  log.info({ address: config.self, others: config.others, chainId: sender.chainId }, 'payment relayer at work');
  return {
    journal,
    async stop(drainMs) {
      poller.stop();
      const timer = setTimeout(() => stopping.abort(), drainMs);
      await poller.idle();
      clearTimeout(timer);
      stopping.abort();
      await polling;
      await sender.close();
      journal.close();
    },
  };
}
