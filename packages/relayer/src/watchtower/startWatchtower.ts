import { join } from 'node:path';
import {
  type Alert,
  alertSecrets,
  createJournalFault,
  createOutbox,
  createRedactor,
  isJournalFault,
  openChannels,
} from '@prism-gateway/alerts';
import { openAccount } from '@prism-gateway/crypto/accounts';
import { makeDirectory, pause, serveMetrics } from '@prism-gateway/runtime';
import { type Logger, withFields } from '@prism-gateway/runtime/logs';
import { createAdminClient, createGatewayClient, createRelayerClient, GatewayError } from '@prism-gateway/sdk';
import { Counter, Gauge, Registry } from 'prom-client';
import { ChainError } from '../chain/chainError.ts';
import { createHealth, type Health } from '../lifecycle/createHealth.ts';
import { createEnforcer } from './createEnforcer.ts';
import { createFindingCheck } from './createFindingCheck.ts';
import { createQueueLook } from './createQueueLook.ts';
import { createWatch, type Looked } from './createWatch.ts';
import type { FindingKind } from './finding.ts';
import { openWatchJournal, type WatchJournal } from './journal/openWatchJournal.ts';
import { openWatchedChain } from './openWatchedChain.ts';
import { createChainLook } from './readChainNews.ts';
import { isKnownSo } from './takeRecords.ts';
import type { WatchedChainSettings, WatchSettings } from './watchSettings.ts';

/** Longest pause after a look that failed, in milliseconds. */
const LONGEST_PAUSE_MS = 30_000;
/** A part of the health that nothing has been heard of for longer counts as failed, in milliseconds. */
const SILENT_MS = 60_000;
/** How far back the first look at a queue goes, in milliseconds: a day, as long as the Forwarder takes a signature by default. */
const FIRST_LOOK_MS = 86_400_000;
/** What people are told of a journal that fails. */
const JOURNAL_WORDS = {
  subject: 'Nothing is watched: the journal cannot be written',
  text: 'Put the file back, or start the watchtower again. What happens meanwhile is looked at afterwards.',
  relief: 'The watch goes on where it was.',
};
/** Time for the last alerts, in milliseconds. */
const ALERT_DRAIN_MS = 5000;

/** What it has to be able to do. */
const PARTS = ['gateway', 'chain', 'journal'] as const;

/** A watchtower at work. */
interface RunningWatchtower {
  readonly address: string;
  /** Like `http://127.0.0.1:9467`; undefined where metrics are off. */
  readonly metricsUrl: string | undefined;
  stop(): Promise<void>;
}

interface WatchtowerOptions {
  readonly settings: WatchSettings;
  readonly log: Logger;
  readonly now: () => number;
}

type Clients = ReturnType<typeof openClients>;

/** What watches one chain. */
interface ChainPost extends WatchtowerOptions {
  readonly chain: WatchedChainSettings;
  readonly clients: Clients;
  readonly metrics: WatchMetrics;
  readonly health: Health;
  readonly signal: AbortSignal;
}

function openClients({ settings }: WatchtowerOptions, account: Awaited<ReturnType<typeof openAccount>>) {
  const { gatewayUrl: url, adminKey } = settings;
  const gateway = createGatewayClient({ url });
  return {
    gateway,
    client: createRelayerClient({ gateway, account }),
    admin: adminKey === undefined ? undefined : createAdminClient({ gateway, adminKey }),
  };
}

/** Opens everything that a chain's watch needs; it closes with the signal. */
async function openPost(post: ChainPost) {
  const { settings, chain, clients, log, now, signal, metrics } = post;
  const { chainName, forwarder, fromBlock } = chain;
  const opened = await openWatchedChain(chain, { log, now, signal });
  const journal = openWatchJournal({ path: join(settings.dataDir, `watchtower-${opened.chainId}.db`), now });
  const redact = createRedactor([...chain.rpcUrls, settings.adminKey, ...alertSecrets(settings.alerts)]);
  const signature = `Watchtower over ${chainName}. See docs/watchtower.md.`;
  const channels = openChannels(settings.alerts);
  const outbox = createOutbox({ outbox: journal.outbox, channels, log, redact, signature, now });
  const count = ({ code }: Alert) => metrics.alerts.inc({ chain: chainName, code });
  const alerter: Pick<typeof outbox, 'raise' | 'tell'> = {
    raise(alert) {
      outbox.raise(alert);
      count(alert);
    },
    tell(alert) {
      outbox.tell(alert);
      count(alert);
    },
  };
  const monotonicNow = () => performance.now();
  const journalFault = createJournalFault({ alerter, log, monotonicNow }, JOURNAL_WORDS);
  const lookAtQueue = createQueueLook({
    client: clients.client,
    chainName,
    isKnown: (record) => isKnownSo(journal.get(record.requestId), record),
    listUnseen: journal.listUnseen,
    now,
    sinceMs: now() - FIRST_LOOK_MS,
  });
  const lookAtChain = createChainLook({ ...opened, forwarder, fromBlock });
  const { leaseSeconds } = settings;
  const checkFinding = opened.witnesses.length === 0 ? undefined : createFindingCheck({ ...opened, forwarder });
  const found = { journal, alerter, checkFinding };
  const shared = { ...opened, ...found, forwarder, leaseSeconds, lookAtQueue, lookAtChain, now };
  const { admin, gateway } = clients;
  const enforce = admin && createEnforcer({ journal, alerter, admin, gateway, log, now });
  return { look: createWatch(shared), enforce, journal, journalFault, outbox };
}

function show({ chain: { chainName: chain }, metrics, log }: ChainPost, journal: WatchJournal, looked: Looked): void {
  const { head, findings } = looked;
  for (const { kind, relayer, requestId } of findings) {
    metrics.findings.inc({ chain, kind });
    log.warn({ kind, relayer, requestId }, 'found');
  }
  metrics.looks.inc({ chain });
  metrics.head.set({ chain }, Number(head.number));
  const counts = journal.count();
  for (const state of ['pending', 'held', 'ended', 'watching', 'done'])
    metrics.requests.set({ chain, state }, counts.get(state) ?? 0);
}

/** Names the place of a fault, for the counter. @returns what its message is safe to say */
function placeOf(error: unknown): { where: 'chain' | 'gateway' | 'journal' | 'work'; reason: string } {
  if (error instanceof ChainError) return { where: 'chain', reason: error.message };
  if (error instanceof GatewayError) return { where: 'gateway', reason: error.message };
  if (isJournalFault(error)) return { where: 'journal', reason: error.message };
  return { where: 'work', reason: error instanceof Error ? error.message : 'unknown' };
}

/** Does some work; a fault is counted, told to the health and logged. @returns whether it went well, or what was thrown */
async function attempt(
  { metrics, health, log, chain, signal }: ChainPost,
  work: () => Promise<void>,
): Promise<{ readonly isWell: boolean; readonly error?: unknown }> {
  try {
    await work();
    for (const part of PARTS) health.noteWell(part);
    return { isWell: true };
  } catch (error) {
    if (signal.aborted) return { isWell: false };
    const { where, reason } = placeOf(error);
    metrics.faults.inc({ chain: chain.chainName, where });
    health.noteFailure(where === 'work' ? 'chain' : where, reason);
    log.warn({ where, reason }, 'a look failed; it is repeated');
    return { isWell: false, error };
  }
}

/** Watches one chain until the signal. */
async function watch(post: ChainPost): Promise<void> {
  const { settings, signal, metrics, chain } = post;
  let opened: Awaited<ReturnType<typeof openPost>> | undefined;
  let pauseMs = settings.pollMs;
  while (!signal.aborted) {
    const { isWell, error } = await attempt(post, async () => {
      opened ??= await openPost(post);
      show(post, opened.journal, await opened.look());
      await opened.enforce?.();
      metrics.unenforced.set({ chain: chain.chainName }, opened.journal.listToActOn().length);
    });
    if (isWell) opened?.journalFault.clear();
    else if (isJournalFault(error)) opened?.journalFault.raise(error);
    pauseMs = isWell ? settings.pollMs : Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    await pause(pauseMs, signal);
  }
  await opened?.outbox.drain(ALERT_DRAIN_MS);
  opened?.outbox.close();
  opened?.journal.close();
}

/**
 * Starts a watchtower on all its chains. A chain or gateway that does not answer is waited for.
 *
 * @param options.settings - parsed
 * @param options.log - one line of JSON an event
 * @throws AccountError, Error of node:net or node:fs
 * @see docs/specification.md WATCH-1
 */
export async function startWatchtower(options: WatchtowerOptions): Promise<RunningWatchtower> {
  const { settings, log, now } = options;
  const account = await openAccount(settings);
  makeDirectory(settings.dataDir);
  const metrics = createWatchMetrics(settings.chains.map(({ chainName }) => chainName));
  const stopping = new AbortController();
  const clients = openClients(options, account);
  const silentMs = Math.max(SILENT_MS, 2 * settings.pollMs);
  const posts = settings.chains.map((chain) => ({
    ...options,
    ...{ chain, clients, metrics, signal: stopping.signal },
    log: withFields(log, { chain: chain.chainName }),
    health: createHealth({ parts: PARTS, silentMs, now }),
  }));
  const listFaults = () =>
    posts.flatMap(({ chain, health }) => health.faults().map((fault) => `${chain.chainName}: ${fault}`));
  const pages = {
    '/health'() {
      const faults = listFaults();
      return faults.length === 0 ? { body: 'ok\n' } : { status: 503, body: `${faults.join('\n')}\n` };
    },
  };
  const { metricsHost: host, metricsPort: port } = settings;
  const { registry } = metrics;
  const server = port === 'off' ? undefined : await serveMetrics({ registry, host, port, pages });
  const working = posts.map(watch);
  return {
    address: account.address,
    metricsUrl: server?.url,
    async stop() {
      stopping.abort();
      await Promise.all(working);
      await server?.close();
    },
  };
}

/** What the watchtower counts; each has the label `chain`. */
type WatchMetrics = ReturnType<typeof createWatchMetrics>;

const KINDS: readonly FindingKind[] = [
  'falseSuccess',
  'wrongTransaction',
  'falseFailure',
  'idleClaim',
  'idleRelease',
  'executedLater',
  'reorganised',
];

/**
 * Makes the watchtower's metrics; a kind that was never found stands there with 0, so that an alarm can watch it.
 *
 * @see https://prometheus.io/docs/practices/naming/
 */
function createWatchMetrics(chains: readonly string[]) {
  const registry = new Registry();
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter<L>({
      name: `prism_watchtower_${name}_total`,
      help,
      labelNames: [...labelNames],
      registers: [registry],
    });
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Gauge<L>({ name: `prism_watchtower_${name}`, help, labelNames: [...labelNames], registers: [registry] });
  const metrics = {
    registry,
    findings: counter('findings', 'Reports that were found not to be true, by kind', ['chain', 'kind']),
    alerts: counter('alerts', 'Alerts that were raised', ['chain', 'code']),
    looks: counter('looks', 'Looks at queue and chain that went well', ['chain']),
    faults: counter('faults', 'Looks that failed, by place', ['chain', 'where']),
    head: gauge('head', 'The newest block that has been looked at', ['chain']),
    requests: gauge('requests', 'Requests under watch', ['chain', 'state']),
    unenforced: gauge('unenforced', 'Findings that nothing has been done about yet', ['chain']),
  };
  for (const chain of chains) {
    for (const kind of KINDS) metrics.findings.inc({ chain, kind }, 0);
    for (const where of ['chain', 'gateway', 'journal', 'work']) metrics.faults.inc({ chain, where }, 0);
    metrics.looks.inc({ chain }, 0);
  }
  return metrics;
}
