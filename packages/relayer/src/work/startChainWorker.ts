import { setTimeout as pause } from 'node:timers/promises';
import { isGatewayError } from '@prism-gateway/sdk';
import { ChainError } from '../chain/chainError.ts';
import { createPendingQueue, type PendingQueue } from '../queue/listPending.ts';
import type { Relay } from '../relay.ts';
import { openRelay, type RelayOptions } from './openRelay.ts';
import { adoptOwnClaims, resumeJournal } from './resumeRequests.ts';
import { runRound } from './runRound.ts';

/** How often the gateway is asked for own claims that the journal does not know, in milliseconds. */
const ADOPT_INTERVAL_MS = 60_000;

/** The work on one chain. */
export interface ChainWorker {
  readonly chainName: string;
  readonly address: string;
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

async function runOnce(relay: Relay, queue: PendingQueue): Promise<'more' | 'idle' | 'failed'> {
  try {
    const { hasMore } = await runRound(relay, queue);
    return hasMore ? 'more' : 'idle';
  } catch (error) {
    if (!relay.signal.aborted) noteFault(relay, error);
    return 'failed';
  }
}

/**
 * Starts the work on one chain: goes on with what is open, then claims, submits and reports until it is stopped.
 *
 * @param options - settings, key and clients
 * @throws ChainError, SenderError where the chain or the journals cannot be used
 */
export async function startChainWorker(options: Omit<RelayOptions, 'wake' | 'signal'>): Promise<ChainWorker> {
  const abort = new AbortController();
  const { wake, wait } = createPause(options.random);
  const relay = await openRelay({ ...options, wake, signal: abort.signal });
  const { policy, settings, logger } = relay;
  const queue = createPendingQueue(relay.gateway, settings.chainName);
  let isStopping = false;
  resumeJournal(relay);

  async function claimUntilStopped(): Promise<void> {
    let pauseMs = policy.pollMinMs;
    let adoptAtMs = 0;
    while (!isStopping) {
      if (relay.now() >= adoptAtMs) {
        adoptAtMs = relay.now() + ADOPT_INTERVAL_MS;
        await adoptOwnClaims(relay).catch((error: unknown) => noteFault(relay, error));
      }
      const result = await runOnce(relay, queue);
      pauseMs = result === 'more' ? policy.pollMinMs : Math.min(policy.pollMaxMs, pauseMs * 1.5);
      if (!isStopping) await wait(result === 'more' ? 0 : pauseMs);
    }
  }
  const claiming = claimUntilStopped();
  logger.info({ relayer: relay.chain.relayer, forwarder: settings.forwarder, chainId: relay.chainId }, 'working');

  return {
    chainName: settings.chainName,
    address: relay.chain.relayer,
    async stop(drainMs) {
      isStopping = true;
      wake();
      const timer = new AbortController();
      const drained = claiming.then(() => relay.desk.idle());
      const late = pause(drainMs, 'late', { signal: timer.signal }).catch(() => undefined);
      if ((await Promise.race([drained, late])) === 'late') {
        logger.warn({ open: relay.desk.size }, 'not drained in time; the next start goes on with what is open');
      }
      timer.abort();
      abort.abort();
      await relay.sender.close();
      await drained;
      relay.journal.close();
    },
  };
}
