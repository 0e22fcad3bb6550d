import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Alerter } from '@prism-gateway/alerts';
import { createTurns } from '@prism-gateway/runtime';
import type { Logger } from '@prism-gateway/runtime/logs';
import { openSender, type Sender, type SenderAccount, type SenderEvent } from '@prism-gateway/sender';
import { createPublicClient, type PublicClient } from 'viem';
import { createPaymentLatch } from './alerts/createPaymentLatch.ts';
import { connectNode } from './chain/connectNode.ts';
import { createKeyWatch, unsettleKey } from './chain/createKeyWatch.ts';
import { createMarkSearch } from './chain/createMarkSearch.ts';
import { createPayoutFence } from './chain/createPayoutFence.ts';
import { createUnknownPayouts } from './chain/createUnknownPayouts.ts';
import { settleKey } from './chain/settleKey.ts';
import { holdUnknown } from './flow/holdPayment.ts';
import { createMemory, type RelayerContext } from './flow/relayerContext.ts';
import { createFrontendClient } from './frontend/createFrontendClient.ts';
import { JournalOwnerError } from './journal/journalErrors.ts';
import { openPaymentJournal, type PaymentJournal } from './journal/openPaymentJournal.ts';
import { createDayLimit } from './limits/createDayLimit.ts';
import { computeCreditsOwed } from './payments/computeCredits.ts';
import { createPoller } from './poll/createPoller.ts';
import { createExchange } from './readiness/createExchange.ts';
import { createReadiness } from './readiness/createReadiness.ts';
import { keepFresh } from './readiness/keepFresh.ts';
import { type Purse, readPurse } from './readiness/readPurse.ts';
import { type RelayerConfig, readConfig } from './relayerConfig.ts';
import type { Settings } from './settings/settings.ts';

/** A payment relayer at work. */
export interface RunningRelayer {
  readonly journal: PaymentJournal;
  readonly alerter: Alerter;
  /** What this instance has, read at most once a minute. @throws viem's errors */
  readPurse(): Promise<Purse>;
  /** Credits for one stablecoin, as expected. */
  readonly expectedRate: bigint;
  /** Claims no more, gives what is under way some time, and stops; nothing is lost: the next start goes on. */
  stop(drainMs: number): Promise<void>;
}

/** What a payment relayer is made of. */
export interface RelayerParts {
  readonly settings: Settings<'payments'>;
  readonly account: SenderAccount;
  /** Creates what tells people, once it is known which instance on which chain it is. */
  readonly openAlerter: (wiring: { readonly journal: PaymentJournal; readonly signature: string }) => Alerter;
  readonly log: Logger;
}

/** Longest time between a look at the chain and a payout's broadcast, in milliseconds. */
const FRESH_MS = 2000;
/** Calls, one after another, that the fence may make for one of the sender's. */
const GUARDED_CALLS = 6;
/** Time for the last alerts, in milliseconds. */
const ALERT_DRAIN_MS = 5000;
/** For how long balances serve that nobody decides by, in milliseconds. */
const PURSE_FRESH_MS = 60_000;
/** How long a node is given at the start, in milliseconds. */
const RPC_PATIENCE_MS = 8000;

/** Of a clock that is never set, in milliseconds: how long something takes must not depend on what people set theirs to. */
const monotonicNow = () => performance.now();

function openJournal(settings: Settings<'payments'>): PaymentJournal {
  return openPaymentJournal({ file: join(settings.DATA_DIR, 'payments.db'), now: Date.now });
}

function logEvent(log: Logger, event: SenderEvent): void {
  // Amounts are bigints, which JSON does not know.
  const fields = Object.fromEntries(
    Object.entries(event).map(([name, value]) => [name, typeof value === 'bigint' ? `${value}` : value]),
  );
  log.debug(fields, 'sender');
}

/** The journal is of one key on one chain: payments of another one are none of its business. */
function bindJournal(journal: PaymentJournal, owner: string): void {
  const known = journal.fact('owner') ?? owner;
  if (known !== owner) throw new JournalOwnerError(known, owner);
  journal.setFact('owner', owner);
}

async function readChainId(client: PublicClient, settings: Settings<'payments'>): Promise<number> {
  if (settings.CHAIN_ID !== 0) return settings.CHAIN_ID;
  const untilMs = performance.now() + RPC_PATIENCE_MS;
  for (;;) {
    try {
      return await client.getChainId();
    } catch (error) {
      if (performance.now() >= untilMs) throw error;
      await pause(settings.RPC_POLL_INTERVAL_MS);
    }
  }
}

/** The chain as the payments see it: client, search, and what stands between sender and node. */
function openChain(
  { settings, account }: RelayerParts,
  wiring: {
    readonly alerter: Alerter;
    readonly config: RelayerConfig;
    readonly journal: PaymentJournal;
    readonly client: PublicClient;
    readonly chainId: number;
    readonly signal: AbortSignal;
  },
) {
  const { alerter, config, journal, client, chainId, signal } = wiring;
  const { creditToken, others, self } = config;
  const { marks, broadcasts } = journal;
  const search = createMarkSearch({
    client,
    marks,
    broadcasts,
    chainId,
    self,
    creditToken,
    relayers: [self, ...others],
    fromBlock: settings.SEARCH_FROM_BLOCK,
    reorgDepth: settings.REORG_DEPTH,
    monotonicNow,
    signal,
  });
  const watch = createKeyWatch({ journal, client, alerter, self, now: Date.now });
  const fence = createPayoutFence({
    rpcUrl: settings.RPC_URL,
    timeoutMs: settings.RPC_TIMEOUT_MS,
    creditToken,
    account,
    others,
    marks,
    broadcasts,
    search,
    watch,
    freshMs: Math.min(FRESH_MS, settings.RPC_TIMEOUT_MS),
    monotonicNow,
  });
  return { search, watch, fence };
}

type Chain = ReturnType<typeof openChain>;

async function openPaymentSender(
  { settings, log }: RelayerParts,
  { config, chainId, chain }: { readonly config: RelayerConfig; readonly chainId: number; readonly chain: Chain },
): Promise<Sender> {
  return await openSender({
    journalPath: join(settings.DATA_DIR, 'sender.db'),
    rpcUrl: chain.fence.transport,
    account: chain.fence.account,
    // Gas equal to the limit does not pass.
    maxFeePerGas: config.maxGasPrice === 0n ? 0n : config.maxGasPrice - 1n,
    bumpAfterMs: settings.BUMP_AFTER_MS,
    pollIntervalMs: config.rpcPollIntervalMs,
    // A broadcast is a look at the chain and the broadcast itself; each of their calls has a time limit of its own.
    rpcTimeoutMs: GUARDED_CALLS * settings.RPC_TIMEOUT_MS,
    ...(settings.LOCK_DIR === undefined ? {} : { lockDir: settings.LOCK_DIR }),
    chainId,
    onEvent(event) {
      chain.watch.takeEvent(event);
      logEvent(log, event);
    },
  });
}

/** Finds out what the key has done where the journal does not know, and counts it against the limits. */
function createSettle(context: Omit<RelayerContext, 'settle'>, { settings }: RelayerParts): () => Promise<void> {
  const { config, journal, watch, log } = context;
  const disagreement = createPaymentLatch(context, {
    code: 'KEY_USED_ELSEWHERE',
    subject: 'Payments do not begin: what this key has done is not clear',
    over: 'What this key has done is clear',
  });
  return async () => {
    if (watch.state() !== 'unsettled') return;
    await settleKey({
      ...context,
      marks: journal.marks,
      self: config.self,
      standMs: settings.BUMP_AFTER_MS,
      pollIntervalMs: config.rpcPollIntervalMs,
      onWait: (reason) => log.info({ reason }, 'nothing is begun yet'),
      onDisagreement: disagreement.raise,
    });
    await context.dayLimit.recount();
    disagreement.clear();
  };
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
  const { settings, log } = parts;
  const config = readConfig({ settings, self: parts.account.address });
  const journal = openJournal(settings);
  const stopping = new AbortController();
  const { signal } = stopping;
  const { RPC_URL: rpcUrl, RPC_TIMEOUT_MS: timeoutMs } = settings;
  const transport = connectNode({ rpcUrl, timeoutMs, attempts: 3, signal });
  const client = createPublicClient({ transport, pollingInterval: config.rpcPollIntervalMs });
  const chainId = await readChainId(client, settings);
  bindJournal(journal, `${config.self} on chain ${chainId}`);
  const name = settings.INSTANCE_NAME === undefined ? config.self : `${settings.INSTANCE_NAME} (${config.self})`;
  const signature = `Instance ${name} on chain ${chainId}.`;
  const alerter = parts.openAlerter({ journal, signature });
  const chain = openChain(parts, { alerter, config, journal, client, chainId, signal });
  if (!existsSync(join(settings.DATA_DIR, 'sender.db'))) {
    if (journal.fact('sender journal') !== undefined) holdUnknown({ journal, alerter });
    unsettleKey(journal);
  }
  const sender = await openPaymentSender(parts, { config, chainId, chain });
  journal.setFact('sender journal', 'made');
  const creditsPerUnit = computeCreditsOwed(1n, config.expectedRate);
  const { self, dailyLimit, dailyCreditLimit } = config;
  const exchange = createExchange({ client, ...config });
  const base = {
    config,
    journal,
    sender,
    client,
    ...chain,
    reorgDepth: settings.REORG_DEPTH,
    frontend: createFrontendClient({
      url: settings.FRONTEND_URL,
      secret: settings.RELAYER_SECRET,
      timeoutMs: settings.RPC_TIMEOUT_MS,
    }),
    alerter,
    log,
    now: Date.now,
    monotonicNow,
    signal,
    decide: createTurns(),
    exchange,
    readiness: createReadiness({ config, client, exchange, sender, journal, log, now: monotonicNow, signal }),
    dayLimit: createDayLimit({ journal, client, self, dailyLimit, dailyCreditLimit, creditsPerUnit, now: Date.now }),
    unknownPayouts: createUnknownPayouts({ sender, journal, creditToken: config.creditToken }),
    memory: createMemory(),
  };
  const context: RelayerContext = { ...base, settle: createSettle(base, parts) };
  const poller = createPoller(context);
  const polling = poller.run();
  log.info({ address: config.self, others: config.others, chainId: sender.chainId }, 'payment relayer at work');
  return {
    journal,
    alerter,
    readPurse: keepFresh({ now: monotonicNow, freshMs: PURSE_FRESH_MS }, () => readPurse(client, config)),
    expectedRate: config.expectedRate,
    async stop(drainMs) {
      poller.stop();
      const timer = setTimeout(() => stopping.abort(), drainMs);
      await poller.idle();
      clearTimeout(timer);
      stopping.abort();
      await polling;
      await sender.close();
      await alerter.drain(Math.min(drainMs, ALERT_DRAIN_MS));
      alerter.close();
      journal.close();
    },
  };
}
