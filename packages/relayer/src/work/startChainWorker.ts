import { setTimeout as pause } from 'node:timers/promises';
import { isGatewayError } from '@prism-gateway/sdk';
import { ChainError } from '../chain/chainError.ts';
import { createPendingQueue, type PendingQueue } from '../queue/listPending.ts';
import type { Relay } from '../relay.ts';
import { adoptClaims } from './adoptClaims.ts';
import { openRelayPatiently, type RelayOptions } from './openRelay.ts';
import { resumeJournal } from './resumeRequests.ts';
import { type ClaimTurn, type RoundResult, runRound } from './runRound.ts';

/** How often the gateway is asked for own claims that the journal does not know, in milliseconds. */
const ADOPT_INTERVAL_MS = 60_000;
/** How long a start waits for a chain to answer before it goes on without it, in milliseconds. */
const OPENING_MS = 5000;
/** By how much a pause grows while there is nothing to do. */
const BACK_OFF = 1.5;

/** The work on one chain. */
export interface ChainWorker {
  readonly chainName: string;
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
      await pause(ms * (0.5 + random()), undefined, { signal: wake.signal }).catch(() => undefined);
      wake = new AbortController();
    },
  };
}

/** A call that failed ends the round, not the worker. */
function noteFault(relay: Relay, error: unknown): void {
  const { metrics, logger, settings } = relay;
  const isKnown = error instanceof ChainError || isGatewayError(error);
  metrics.faults.inc({ chain: settings.chainName, where: isGatewayError(error) ? 'gateway' : 'chain' });
  if (isKnown) logger.warn({ code: error.code, reason: error.message }, 'round failed');
  else logger.error({ err: error }, 'round failed');
}

async function runOnce(relay: Relay, queue: PendingQueue, turn: ClaimTurn): Promise<RoundResult> {
  try {
    return await runRound(relay, queue, turn);
  } catch (error) {
    if (!relay.signal.aborted) noteFault(relay, error);
    return 'idle';
  }
}

/** Claims until it is told to stop. */
async function claimUntil(
  relay: Relay,
  { isStopping, wait }: { isStopping: () => boolean; wait: (ms: number) => Promise<void> },
) {
  const { policy, settings, signal } = relay;
  const queue = createPendingQueue(relay.gateway, { chainName: settings.chainName, signal });
  const turn: ClaimTurn = { last: Promise.resolve() };
  let pauseMs = policy.pollMinMs;
  let adoptAtMs = 0;
  while (!isStopping()) {
    if (relay.now() >= adoptAtMs) {
      adoptAtMs = relay.now() + ADOPT_INTERVAL_MS;
      await adoptClaims(relay).catch((error: unknown) => noteFault(relay, error));
    }
    const result = await runOnce(relay, queue, turn);
    pauseMs = result === 'idle' ? Math.min(policy.pollMaxMs, pauseMs * BACK_OFF) : policy.pollMinMs;
    if (!isStopping()) await wait(result === 'claiming' ? 0 : pauseMs);
  }
}

/** Lets what is claimed end, as far as the time goes, and closes what is open. */
async function closeRelay(
  relay: Relay,
  work: { readonly claiming: Promise<void>; readonly drainMs: number; readonly abort: AbortController },
) {
  const { claiming, drainMs, abort } = work;
  const timer = new AbortController();
  const drained = claiming.then(() => relay.desk.idle());
  const late = pause(drainMs, 'late', { signal: timer.signal }).catch(() => undefined);
  if ((await Promise.race([drained, late])) === 'late') {
    relay.logger.warn({ open: relay.desk.size }, 'not drained in time; the next start goes on with what is open');
  }
  timer.abort();
  abort.abort();
  await relay.sender.close();
  await drained;
  relay.journal.close();
}

/**
 * Starts the work on one chain: goes on with what is open, then claims, submits and reports until it is stopped. A node that does
 * not answer is waited for, beside the work on other chains.
 *
 * @param options - settings, key and clients
 * @throws ChainError, SenderError where the chain or the journals can never be used as they are
 */
export async function startChainWorker(options: Omit<RelayOptions, 'wake' | 'signal'>): Promise<ChainWorker> {
  const abort = new AbortController();
  const { wake, wait } = createPause(options.random);
  let isStopping = false;
  const opening = openRelayPatiently({ ...options, wake, signal: abort.signal });
  const working = opening.then((relay) => {
    if (relay === undefined) return undefined;
    resumeJournal(relay);
    const { settings, chain, chainId } = relay;
    relay.logger.info({ relayer: chain.relayer, forwarder: settings.forwarder, chainId }, 'working');
    return { relay, claiming: claimUntil(relay, { isStopping: () => isStopping, wait }) };
  });
  working.catch((error: unknown) => options.logger.error({ err: error }, 'the chain cannot be worked on'));
  await Promise.race([working, pause(OPENING_MS, undefined, { ref: false })]);
  return {
    chainName: options.chain.chainName,
    async stop(drainMs) {
      isStopping = true;
      wake();
      const isOpen = await Promise.race([working.then(() => true), pause(0, false)]).catch(() => false);
      if (!isOpen) abort.abort();
      const work = await working.catch(() => undefined);
      if (work !== undefined) await closeRelay(work.relay, { claiming: work.claiming, drainMs, abort });
    },
  };
}
