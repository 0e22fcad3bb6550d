import { setTimeout as sleep } from 'node:timers/promises';
import { isJournalFault } from '@prism-gateway/alerts';
import { isGatewayError } from '@prism-gateway/sdk';
import { ChainError } from '../chain/chainError.ts';
import type { JournalView } from '../journal/createJournalView.ts';
import type { ChainOptions } from './chainWork.ts';
import { type OpenChain, openChain } from './openChain.ts';
import type { RoundResult } from './pickClaims.ts';

/** How often the gateway is asked for own claims that the journal does not know, in milliseconds. */
const ADOPT_INTERVAL_MS = 60_000;
/** How often the chain is looked at, whatever the queue holds, in milliseconds. */
const HEARTBEAT_MS = 5000;
/** How long a start waits for a chain to answer before it goes on without it, in milliseconds. */
const OPENING_MS = 5000;
/** By how much a pause grows while there is nothing to do. */
const BACK_OFF = 1.5;

/** The work on one chain. */
export interface ChainWorker {
  readonly chainName: string;
  /** What its journal tells; undefined while its node has not answered yet. */
  view(): { readonly chainId: number; readonly journal: JournalView } | undefined;
  /** Claims nothing more; resolves when all that was claimed is reported, or the time is over. @param drainMs - how long */
  stop(drainMs: number): Promise<void>;
}

/** A pause that something can end. */
function createPause(random: () => number) {
  let wake = new AbortController();
  return {
    wake: () => wake.abort(),
    async wait(ms: number): Promise<void> {
      // Jitter, so that rivals that were started together drift apart.
      await sleep(ms * (0.5 + random()), undefined, { signal: wake.signal }).catch(() => undefined);
      wake = new AbortController();
    },
  };
}

/** A call that failed ends the round, not the worker. */
function noteFault({ logger, health }: ChainOptions, { lifecycle }: OpenChain, error: unknown): void {
  if (isJournalFault(error)) {
    lifecycle.noteFault('journal');
    health.noteFailure('journal', error.message);
    logger.error({ reason: error.message }, 'the journal fails');
    return;
  }
  lifecycle.noteFault(isGatewayError(error) ? 'gateway' : 'chain');
  if (error instanceof ChainError || isGatewayError(error)) {
    logger.warn({ code: error.code, reason: error.message }, 'round failed');
  } else logger.error({ err: error }, 'round failed');
}

async function runOnce(options: ChainOptions, open: OpenChain): Promise<RoundResult> {
  try {
    return await open.lifecycle.round();
  } catch (error) {
    if (!options.signal.aborted) noteFault(options, open, error);
    return 'idle';
  }
}

/** Claims until it is told to stop. */
async function claimUntil(
  options: ChainOptions,
  open: OpenChain,
  { isStopping, wait }: { isStopping: () => boolean; wait: (ms: number) => Promise<void> },
) {
  const { now } = options;
  const { policy } = options.settings;
  let pauseMs = policy.pollMinMs;
  let adoptAtMs = 0;
  // One that comes back from a backup may hold claims that were reported since.
  options.gatewayReturns.add(() => {
    adoptAtMs = 0;
    options.wake();
  });
  while (!isStopping()) {
    if (now() >= adoptAtMs) {
      adoptAtMs = now() + ADOPT_INTERVAL_MS;
      await open.lifecycle.adopt().catch((error: unknown) => noteFault(options, open, error));
    }
    const result = await runOnce(options, open);
    pauseMs = result === 'idle' ? Math.min(policy.pollMaxMs, pauseMs * BACK_OFF) : policy.pollMinMs;
    if (!isStopping()) await wait(result === 'claiming' ? 0 : pauseMs);
  }
}

/** Looks at chain and journal now and then: whether they can be used is told by their health, and what is old is forgotten. @returns what ends it */
function startHeartbeat(options: ChainOptions, open: OpenChain): NodeJS.Timeout {
  return setInterval(() => {
    // What fails here is noted where the head is read.
    void open.state.head().catch(() => undefined);
    void open.keyWatch.look().catch((error: unknown) => noteFault(options, open, error));
    void open.lookAtNodes().catch((error: unknown) => noteFault(options, open, error));
    try {
      open.lifecycle.look();
      open.journal.probe();
      open.journal.forgetOld(options.now());
      options.health.noteWell('journal');
    } catch (error) {
      noteFault(options, open, error);
    }
  }, HEARTBEAT_MS).unref();
}

/** Lets what is claimed end, as far as the time goes, and closes what is open. */
async function closeChain(
  options: ChainOptions,
  { lifecycle, sender, journal }: OpenChain,
  work: { readonly claiming: Promise<void>; readonly drainMs: number; readonly abort: AbortController },
) {
  const { claiming, drainMs, abort } = work;
  const timer = new AbortController();
  const drained = claiming.then(() => lifecycle.idle());
  const late = sleep(drainMs, 'late', { signal: timer.signal }).catch(() => undefined);
  if ((await Promise.race([drained, late])) === 'late') {
    options.logger.warn({ open: lifecycle.size }, 'not drained in time; the next start goes on with what is open');
  }
  timer.abort();
  abort.abort();
  await sender.close();
  await drained;
  journal.close();
}

/**
 * Starts the work on one chain: goes on with what is open, then claims, submits and reports until it is stopped. A node that does
 * not answer is waited for, beside the work on other chains.
 *
 * @throws ChainError, SenderError where the chain or the journals can never be used as they are
 */
export async function startChainWorker(given: Omit<ChainOptions, 'wake' | 'signal'>): Promise<ChainWorker> {
  const abort = new AbortController();
  const { wake, wait } = createPause(given.random);
  const options = { ...given, wake, signal: abort.signal };
  const { chain, account, logger } = given;
  let isStopping = false;
  let opened: OpenChain | undefined;
  const working = openChain(options).then((open) => {
    if (open === undefined) return undefined;
    opened = open;
    open.lifecycle.resume();
    logger.info({ relayer: account.address, forwarder: chain.forwarder, chainId: open.chainId }, 'working');
    const heartbeat = startHeartbeat(options, open);
    const claiming = claimUntil(options, open, { isStopping: () => isStopping, wait });
    return { open, heartbeat, claiming };
  });
  working.catch((error: unknown) => logger.error({ err: error }, 'the chain cannot be worked on'));
  await Promise.race([working, sleep(OPENING_MS, undefined, { ref: false })]);
  return {
    chainName: chain.chainName,
    view: () => opened && { chainId: opened.chainId, journal: opened.journal.view },
    async stop(drainMs) {
      isStopping = true;
      wake();
      const isOpen = await Promise.race([working.then(() => true), sleep(0, false)]).catch(() => false);
      if (!isOpen) abort.abort();
      const work = await working.catch(() => undefined);
      if (work === undefined) return;
      clearInterval(work.heartbeat);
      opened = undefined;
      await closeChain(options, work.open, { claiming: work.claiming, drainMs, abort });
    },
  };
}
