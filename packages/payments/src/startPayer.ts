import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createTurns } from '@prism-gateway/node';
import type { Alerter } from '@prism-gateway/node/alerts';
import type { Logger } from '@prism-gateway/node/logs';
import { openSender, type Sender, type SenderAccount, type SenderEvent } from '@prism-gateway/sender';
import { type Address, createPublicClient, type PublicClient } from 'viem';
import { createPaymentLatch } from './alerts/createPaymentLatch.ts';
import { computeCreditsOwed } from './amounts/computeCredits.ts';
import { checkSearchStart } from './chain/checkSearchStart.ts';
import { connectNode } from './chain/connectNode.ts';
import { createBroadcastGuard } from './chain/createBroadcastGuard.ts';
import { createKeyWatch, forgetResolvedKey, KEY_FACTS } from './chain/createKeyWatch.ts';
import { createTransferSearch } from './chain/createTransferSearch.ts';
import { resolveKey } from './chain/resolveKey.ts';
import { renewClaim } from './flow/giveBack.ts';
import { holdUnknown } from './flow/holdPayment.ts';
import { createMemory, type PayerContext } from './flow/payerContext.ts';
import { createFrontendClient, type FrontendClient } from './frontend/createFrontendClient.ts';
import { openPaymentJournal, type PaymentJournal } from './journal/openPaymentJournal.ts';
import { createDayLimit, type Spent } from './limits/createDayLimit.ts';
import { type PayerConfig, readConfig } from './payerConfig.ts';
import { createPoller } from './poll/createPoller.ts';
import { createExchange } from './readiness/createExchange.ts';
import { createReadiness } from './readiness/createReadiness.ts';
import { keepFresh } from './readiness/keepFresh.ts';
import { type Balances, readAccountBalances } from './readiness/readAccountBalances.ts';
import { createFrontendReader } from './readiness/readContracts.ts';
import type { Settings } from './settings/settings.ts';

/** Amounts that count against the limits of a day, in base units. */
export interface DayUse extends Spent {
  /** Of UTC, like `2027-01-31`. */
  readonly day: string;
  readonly dailyLimit: bigint;
  readonly dailyCreditLimit: bigint;
}

/** A payment relayer at work. */
export interface RunningPayer {
  readonly journal: PaymentJournal;
  readonly alerter: Alerter;
  /** This instance's balances, read at most once a minute. @throws viem's errors */
  readAccountBalances(): Promise<Balances>;
  /** Credits for one stablecoin, as expected. */
  readonly expectedRate: bigint;
  /** Amounts of today, and the limits of a day, in base units. */
  readDay(): DayUse;
  /** When the last poll went through, on a clock that is never set, in milliseconds. */
  polledAtMs(): number;
  isJournalFailing(): boolean;
  /** Claims no more, gives what is under way some time, and stops; nothing is lost: the next start goes on. */
  stop(drainMs: number): Promise<void>;
}

export interface PayerParts {
  readonly settings: Settings<'payments'>;
  readonly account: SenderAccount;
  /** Creates what alerts people, once it is known which instance on which chain it is. */
  readonly openAlerter: (wiring: { readonly journal: PaymentJournal; readonly signature: string }) => Alerter;
  readonly log: Logger;
  /** Called after each poll that has gone through. */
  readonly onPolled?: () => void;
}

/** Longest time between a look at the chain and a payout's broadcast, in milliseconds. */
const FRESH_MS = 2000;
/** Time for the last alerts, in milliseconds. */
const ALERT_DRAIN_MS = 5000;
/** For how long balances serve that nobody decides by, in milliseconds. */
const BALANCES_FRESH_MS = 60_000;
/** How long a node is given at the start, in milliseconds. */
const RPC_WAIT_MS = 8000;

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

/** The journal in `DATA_DIR` was kept for another key or chain. */
export class JournalOwnerError extends Error {
  override readonly name = 'JournalOwnerError';
  readonly code = 'JOURNAL_OF_ANOTHER';

  /** @param known - whose journal it is: address and chain */
  constructor(known: string, given: string) {
    super(
      `DATA_DIR holds the journal of ${known}, and this is ${given}. Each key has a folder of its own: set DATA_DIR.`,
    );
  }
}

/** The journal is of one key on one chain: payments of another one are none of its business. */
function bindJournal(journal: PaymentJournal, owner: string): void {
  const known = journal.fact('owner') ?? owner;
  if (known !== owner) throw new JournalOwnerError(known, owner);
  journal.setFact('owner', owner);
}

async function readChainId(client: PublicClient, settings: Settings<'payments'>): Promise<number> {
  if (settings.CHAIN_ID !== 0) return settings.CHAIN_ID;
  const untilMs = performance.now() + RPC_WAIT_MS;
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
  { settings }: PayerParts,
  wiring: {
    readonly alerter: Alerter;
    readonly config: PayerConfig;
    readonly journal: PaymentJournal;
    readonly client: PublicClient;
    readonly frontend: FrontendClient;
    readonly chainId: number;
    readonly signal: AbortSignal;
  },
) {
  const { alerter, config, journal, client, chainId, signal } = wiring;
  const { creditToken, others, self } = config;
  const { transfers, broadcasts } = journal;
  const watch = createKeyWatch({ journal, client, alerter, self, now: Date.now });
  const relayers = [self, ...others];
  // Lower case of an address is an address.
  const outOf = relayers.map((address) => ({ side: 'from', address: address.toLowerCase() as Address }) as const);
  const search = createTransferSearch({
    client,
    transfers,
    broadcasts,
    chainId,
    self,
    creditToken,
    relayers,
    listParties: () => [
      ...(watch.state() === 'unresolved' ? outOf : []),
      ...journal.listWallets().map((address) => ({ side: 'to', address }) as const),
    ],
    fromBlock: settings.SEARCH_FROM_BLOCK,
    reorgDepth: settings.REORG_DEPTH,
    monotonicNow,
    signal,
  });
  const guard = createBroadcastGuard({
    client,
    config,
    journal,
    search,
    watch,
    renewClaim: (payoutId) => renewClaim(wiring, payoutId),
    freshMs: Math.min(FRESH_MS, settings.RPC_TIMEOUT_MS),
    monotonicNow,
  });
  return { search, watch, guard };
}

type Chain = ReturnType<typeof openChain>;

async function openPaymentSender(
  { settings, account, log }: PayerParts,
  { config, chainId, chain }: { readonly config: PayerConfig; readonly chainId: number; readonly chain: Chain },
): Promise<Sender> {
  return await openSender({
    journalPath: join(settings.DATA_DIR, 'sender.db'),
    rpcUrl: settings.RPC_URL,
    account,
    mayBroadcast: chain.guard.mayBroadcast,
    // Gas equal to the limit does not pass.
    maxFeePerGas: config.maxGasPrice === 0n ? 0n : config.maxGasPrice - 1n,
    bumpAfterMs: settings.BUMP_AFTER_MS,
    pollIntervalMs: config.rpcPollIntervalMs,
    rpcTimeoutMs: settings.RPC_TIMEOUT_MS,
    ...(settings.LOCK_DIR === undefined ? {} : { lockDir: settings.LOCK_DIR }),
    chainId,
    onEvent(event) {
      chain.watch.takeEvent(event);
      logEvent(log, event);
    },
  });
}

/** Finds out what the key has done if the journal does not know, and counts it against the limits. */
function createResolve(
  context: Omit<PayerContext, 'resolveKey'>,
  { settings, checkStart }: PayerParts & { readonly checkStart: () => Promise<void> },
): () => Promise<void> {
  const { config, journal, watch, log } = context;
  const disagreement = createPaymentLatch(context, {
    code: 'KEY_USED_ELSEWHERE',
    subject: 'Payments do not begin: what this key has done is not clear',
    over: 'What this key has done is clear',
  });
  return async () => {
    if (watch.state() !== 'unresolved') return;
    await resolveKey({
      ...context,
      transfers: journal.transfers,
      self: config.self,
      standMs: settings.BUMP_AFTER_MS,
      pollIntervalMs: config.rpcPollIntervalMs,
      checkStart,
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
 * @throws SenderError if key, journal or chain cannot be used; viem's errors
 * @see docs/specification.md PAY-1
 */
export async function startPayer(parts: PayerParts): Promise<RunningPayer> {
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
  const frontend = createFrontendClient({
    url: settings.FRONTEND_URL,
    secret: settings.RELAYER_SECRET,
    timeoutMs: settings.RPC_TIMEOUT_MS,
  });
  const chain = openChain(parts, { alerter, config, journal, client, frontend, chainId, signal });
  if (!existsSync(join(settings.DATA_DIR, 'sender.db'))) {
    if (journal.fact('sender journal') !== undefined) holdUnknown({ journal, alerter });
    forgetResolvedKey(journal);
  }
  const checkStart = async () => {
    const known = Number(journal.fact(KEY_FACTS.next) ?? 0);
    await checkSearchStart(client, { self: config.self, fromBlock: config.searchFromBlock, known });
  };
  if (chain.watch.state() === 'unresolved') await checkStart();
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
    frontend,
    alerter,
    log,
    now: Date.now,
    monotonicNow,
    signal,
    decide: createTurns(),
    exchange,
    readiness: createReadiness({ config, client, exchange, sender, journal, log, now: monotonicNow, signal }),
    dayLimit: createDayLimit({ journal, client, self, dailyLimit, dailyCreditLimit, creditsPerUnit, now: Date.now }),
    readFrontend: createFrontendReader({ client, config, journal }),
    memory: createMemory(),
  };
  const context: PayerContext = { ...base, resolveKey: createResolve(base, { ...parts, checkStart }) };
  const poller = createPoller(context, { onPolled: () => parts.onPolled?.() });
  const polling = poller.run();
  log.info({ address: config.self, others: config.others, chainId: sender.chainId }, 'payment relayer at work');
  return {
    journal,
    alerter,
    readAccountBalances: keepFresh({ now: monotonicNow, freshMs: BALANCES_FRESH_MS }, () =>
      readAccountBalances(client, config),
    ),
    expectedRate: config.expectedRate,
    readDay: () => ({ day: base.dayLimit.today(), ...base.dayLimit.spent(), dailyLimit, dailyCreditLimit }),
    polledAtMs: poller.polledAtMs,
    isJournalFailing: poller.isJournalFailing,
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
