import { join } from 'node:path';
import { createClockWatch, makeDirectory, pause, serveMetrics } from '@prism-gateway/node';
import { createRecoverSigner, openAccount } from '@prism-gateway/node/accounts';
import {
  type Alert,
  alertSettings,
  createJournalFault,
  createOutbox,
  createRedactor,
  isJournalFault,
  openChannels,
} from '@prism-gateway/node/alerts';
import { type Logger, withFields } from '@prism-gateway/node/logs';
import { secretValues } from '@prism-gateway/node/settings';
import { createAdminClient, createGatewayClient, createRelayerClient, GatewayError } from '@prism-gateway/sdk';
import { ChainError } from '../chain/chainError.ts';
import { findClockLag } from '../chain/findClockLag.ts';
import { createHealth, type Health, healthPage, listOfChains } from '../events/createHealth.ts';
import { watchFetch } from '../gateway/watchFetch.ts';
import { createEnforcer } from './createEnforcer.ts';
import { createFindingCheck } from './createFindingCheck.ts';
import { createQueueLook } from './createQueueLook.ts';
import { createWatch, type Looked } from './createWatch.ts';
import { createWatchMetrics, type WatchMetrics } from './createWatchMetrics.ts';
import { isLie } from './finding.ts';
import { openWatchJournal, type WatchJournal } from './journal/openWatchJournal.ts';
import { listOpenBefore } from './listOpenBefore.ts';
import { openWatchedChain } from './openWatchedChain.ts';
import { createChainLook } from './readChainUpdate.ts';
import { isKnownSo } from './takeRecords.ts';
import type { WatchedChainSettings, WatchSettings } from './watchSettings.ts';

/** Shortest and longest pause between two looks while something is open, unless another is set, in milliseconds. */
const SHORTEST_POLL_MS = 1000;
const LONGEST_POLL_MS = 6000;
/** Newest heads by which the time of a block is taken. */
const PACE_HEADS = 20;
/** Longest pause after a look that failed, in milliseconds. */
const LONGEST_PAUSE_MS = 30_000;
/** A part of the health that nothing has been heard of for longer counts as failed, in milliseconds. */
const SILENT_MS = 60_000;
/** How far back the first look at a queue goes, in milliseconds: a day, as long as the Forwarder takes a signature by default. */
const FIRST_LOOK_MS = 86_400_000;
/** Messages on a journal that fails. */
const JOURNAL_WORDS = {
  subject: 'Nothing is watched: the journal cannot be written',
  text: 'Put the file back, or start the watchtower again. What happens meanwhile is looked at afterwards.',
  relief: 'The watch goes on where it was.',
};
/** Time for the last alerts, in milliseconds. */
const ALERT_DRAIN_MS = 5000;

/** Milliseconds of a clock that is never set. */
const monotonicNow = () => performance.now();

/** Abilities that it needs. */
const PARTS = ['gateway', 'chain', 'journal'] as const;

/** A watchtower at work. */
interface RunningWatchtower {
  readonly address: string;
  /** Like `http://127.0.0.1:9467`; undefined if metrics are off. */
  readonly metricsUrl: string | undefined;
  stop(): Promise<void>;
}

interface WatchtowerOptions {
  readonly settings: WatchSettings;
  readonly log: Logger;
  readonly now: () => number;
}

type Clients = ReturnType<typeof openClients>;

/** The watch over one chain. */
interface ChainPost extends WatchtowerOptions {
  readonly chain: WatchedChainSettings;
  readonly clients: Clients;
  readonly metrics: WatchMetrics;
  readonly health: Health;
  /** Of the chains that are watched already, by name. */
  readonly journals: Map<string, WatchJournal>;
  readonly signal: AbortSignal;
}

/** @param health - notified of a clock that is not the gateway's */
function openClients(
  { settings, now }: WatchtowerOptions,
  { account, health }: { readonly account: Awaited<ReturnType<typeof openAccount>>; readonly health: Health },
) {
  const { gatewayUrl: url, adminKey } = settings;
  const gateway = createGatewayClient({ url, fetch: watchFetch(fetch, { health, now }) });
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
  const onLeftOut = (reason: string) => post.health.warn(reason, reason, Number.POSITIVE_INFINITY);
  const opened = await openWatchedChain(chain, { log, now, onLeftOut, signal });
  const journal = openWatchJournal({ path: join(settings.dataDir, `watchtower-${opened.chainId}.db`), now });
  const redact = createRedactor([...chain.rpcUrls, settings.adminKey, ...secretValues(alertSettings, settings.alerts)]);
  const signature = `Watchtower over ${chainName}. See docs/watchtower.md.`;
  const channels = openChannels(settings.alerts);
  const outbox = createOutbox({ outbox: journal.outbox, channels, log, redact, signature, now });
  const count = ({ code }: Alert) => metrics.alerts.inc({ chain: chainName, code });
  const alerter: Pick<typeof outbox, 'raise' | 'notify'> = {
    raise(alert) {
      outbox.raise(alert);
      count(alert);
    },
    notify(alert) {
      outbox.notify(alert);
      count(alert);
    },
  };
  const journalFault = createJournalFault({ alerter, log, monotonicNow }, JOURNAL_WORDS);
  const isIdle = () => journal.listToActOn().length === 0 && !journal.hasAny(['pending', 'held', 'ended']);
  const queue = createQueueLook({
    client: clients.client,
    chainName,
    isKnown: (record) => isKnownSo(journal.get(record.requestId), record),
    isIdle,
    listUnseen: journal.listUnseen,
    now,
    sinceMs: now() - FIRST_LOOK_MS,
  });
  const lookAtChain = createChainLook({ ...opened, forwarder, fromBlock, monotonicNow });
  const { leaseSeconds } = settings;
  const checkFinding = createFindingCheck({
    ...{ ...opened, forwarder, recoverSigner: createRecoverSigner() },
    listOpenBefore: (requestId, signer) =>
      listOpenBefore({ client: clients.client, chainName, journal }, { requestId, signer }),
  });
  const found = { journal, alerter, checkFinding };
  const shared = {
    ...opened,
    ...found,
    forwarder,
    leaseSeconds,
    lookAtQueue: queue.look,
    lookAtChain,
    now,
    monotonicNow,
  };
  const { admin, gateway } = clients;
  const enforce = admin && createEnforcer({ journal, alerter, admin, gateway, log, now });
  return {
    look: createWatch(shared),
    enforce,
    journal,
    journalFault,
    outbox,
    isIdle,
    waitForUpdate: queue.waitForUpdate,
  };
}

/** Half a block: what has happened on the chain is seen before the next one, mostly. */
function choosePauseMs(journal: WatchJournal | undefined): number {
  const heads = journal?.heads().slice(0, PACE_HEADS) ?? [];
  const [newest, oldest] = [heads[0], heads.at(-1)];
  if (newest === undefined || oldest === undefined || newest.number === oldest.number) return SHORTEST_POLL_MS;
  const blockMs = Number(newest.seconds - oldest.seconds) * (1000 / Number(newest.number - oldest.number));
  return Math.min(LONGEST_POLL_MS, Math.max(SHORTEST_POLL_MS, blockMs / 2));
}

function show({ chain: { chainName: chain }, metrics, log, health, now }: ChainPost, looked: Looked): void {
  const { head, findings } = looked;
  const lag = findClockLag(head.seconds, now());
  if (lag === undefined) health.recordWell('clock');
  else health.recordFailure('clock', lag);
  for (const { kind, relayer, requestId } of findings) {
    metrics.findings.inc({ chain, kind });
    log.warn({ kind, relayer, requestId }, 'found');
  }
  metrics.looks.inc({ chain });
  metrics.head.set({ chain }, Number(head.number));
}

/** Names the place of a fault, for the counter. @returns what its message is safe to say */
function placeOf(error: unknown): { where: 'chain' | 'gateway' | 'journal' | 'work'; reason: string } {
  if (error instanceof ChainError) return { where: 'chain', reason: error.message };
  if (error instanceof GatewayError) return { where: 'gateway', reason: error.message };
  if (isJournalFault(error)) return { where: 'journal', reason: error.message };
  return { where: 'work', reason: error instanceof Error ? error.message : 'unknown' };
}

/** Does some work; a fault is counted, reported to the health and logged. @returns whether it went well, or what was thrown */
async function attempt(
  { metrics, health, log, chain, signal }: ChainPost,
  work: () => Promise<void>,
): Promise<{ readonly isWell: boolean; readonly error?: unknown }> {
  try {
    await work();
    for (const part of PARTS) health.recordWell(part);
    return { isWell: true };
  } catch (error) {
    if (signal.aborted) return { isWell: false };
    const { where, reason } = placeOf(error);
    metrics.faults.inc({ chain: chain.chainName, where });
    health.recordFailure(where === 'work' ? 'chain' : where, reason);
    log.warn({ where, reason }, 'a look failed; it is repeated');
    return { isWell: false, error };
  }
}

/** Most findings that a status lists, of those the newest. */
const MAX_LISTED = 100;

/** The findings on a chain, newest first, and the watched requests; JSON as it stands. */
function describeChain(chainName: string, journal: WatchJournal) {
  const findings = journal.listFindings();
  const newest = findings.slice(-MAX_LISTED).reverse();
  return {
    chainName,
    requests: Object.fromEntries(journal.count()),
    total: findings.length,
    findings: newest.map((finding) => ({ ...finding, block: `${finding.block}`, isLie: isLie(finding) })),
  };
}

/** Sends the last alerts, and closes everything. */
async function closePost(post: ChainPost, opened: Awaited<ReturnType<typeof openPost>> | undefined): Promise<void> {
  post.journals.delete(post.chain.chainName);
  await opened?.outbox.drain(ALERT_DRAIN_MS);
  opened?.outbox.close();
  opened?.journal.close();
}

/** Watches one chain until the signal. If the clock of this machine is set, the watch begins as after a restart. */
async function watch(post: ChainPost): Promise<void> {
  const { settings, signal, metrics, chain, now, log } = post;
  const findClockStep = createClockWatch({ now, monotonicNow });
  let opened: Awaited<ReturnType<typeof openPost>> | undefined;
  let failures = 0;
  while (!signal.aborted) {
    const byMs = findClockStep();
    if (byMs !== 0 && opened !== undefined) {
      log.warn({ byMs }, 'the clock of this machine was set; the watch begins anew');
      await closePost(post, opened).catch((err: unknown) => log.warn({ err }, 'the watch did not end as it should'));
      opened = undefined;
    }
    const { isWell, error } = await attempt(post, async () => {
      opened ??= await openPost(post);
      post.journals.set(chain.chainName, opened.journal);
      show(post, await opened.look());
      await opened.enforce?.();
      metrics.unenforced.set({ chain: chain.chainName }, opened.journal.listToActOn().length);
    });
    if (isWell) opened?.journalFault.clear();
    else if (isJournalFault(error)) opened?.journalFault.raise(error);
    failures = isWell ? 0 : failures + 1;
    const pollMs = settings.pollMs ?? choosePauseMs(opened?.journal);
    const isIdle = isWell && opened?.isIdle() === true;
    await Promise.all([
      pause(Math.min(pollMs * 2 ** failures, Math.max(pollMs, LONGEST_PAUSE_MS)), signal),
      isIdle && opened?.waitForUpdate(signal),
    ]);
  }
  await closePost(post, opened);
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
  const journals = new Map<string, WatchJournal>();
  const metrics = createWatchMetrics(
    settings.chains.map(({ chainName }) => chainName),
    { journals },
  );
  const stopping = new AbortController();
  const silentMs = Math.max(SILENT_MS, 2 * (settings.pollMs ?? 0));
  const clockHealth = createHealth({ parts: ['clock'], silentMs, now, monotonicNow });
  const clients = openClients(options, { account, health: clockHealth });
  const posts = settings.chains.map((chain) => ({
    ...options,
    ...{ chain, clients, metrics, journals, signal: stopping.signal },
    log: withFields(log, { chain: chain.chainName }),
    health: createHealth({ parts: [...PARTS, 'clock'], silentMs, now, monotonicNow }),
  }));
  const healthOf = posts.map(({ chain, health }) => [chain.chainName, health] as const);
  const listHealth = () => ({
    faults: [...clockHealth.faults(), ...listOfChains(healthOf, 'faults')],
    warnings: listOfChains(healthOf, 'warnings'),
  });
  const pages = {
    '/health': () => healthPage(listHealth()),
    '/status'() {
      const chains = [...journals].map(([chainName, journal]) => describeChain(chainName, journal));
      const status = { program: 'watchtower', ...listHealth(), enforces: clients.admin !== undefined, chains };
      return { contentType: 'application/json', body: `${JSON.stringify(status)}\n` };
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
