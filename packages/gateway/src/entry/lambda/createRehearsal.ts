import { AsyncLocalStorage } from 'node:async_hooks';
import { createLogger } from '@prism-gateway/node/logs';
import { createEmfMetrics } from '../../drivers/emf/createEmfMetrics.ts';
import type { GatewayPorts } from '../../ports/gatewayPorts.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Metrics } from '../../ports/metrics.ts';

interface RehearsalOptions {
  readonly stage: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Takes a whole line of the log. */
  readonly write: (line: string) => void;
}

/** Distinguishes rehearsed calls from those of clients, however long they take. */
export interface Rehearsal {
  /** Makes calls within `act` rehearsed ones. */
  run<T>(act: () => Promise<T>): Promise<T>;
  /** Whether the call under way is a rehearsed one. */
  isOn(): boolean;
  /** Ports that are the given ones, but to rehearsed calls: these neither log, nor count, nor store. */
  silence(ports: GatewayPorts): GatewayPorts;
}

/** Lines are made and then dropped; that none is written opens the output all the same, which takes some milliseconds. */
function createSilence({ stage, now, write }: RehearsalOptions) {
  const drop = () => write('');
  return {
    logger: createLogger({ level: 'debug', now, write: drop }),
    metrics: createEmfMetrics({ stage, now, write: drop, takeUnits: () => ({ reads: 0, writes: 0 }) }),
  };
}

function chooseLogger(choose: () => Logger): Logger {
  return {
    debug: (...line) => choose().debug(...line),
    info: (...line) => choose().info(...line),
    warn: (...line) => choose().warn(...line),
    error: (...line) => choose().error(...line),
  };
}

/**
 * Lets an instance rehearse on the very gateway that answers clients later: a twin of it would leave the router, and whatever else
 * is made by the first call, to be made again.
 */
export function createRehearsal(options: RehearsalOptions): Rehearsal {
  const rehearsed = new AsyncLocalStorage<true>();
  const isOn = () => rehearsed.getStore() === true;
  const silent = createSilence(options);
  return {
    run: (act) => rehearsed.run(true, act),
    isOn,
    silence(ports) {
      const { requests, metrics, logger } = ports;
      const chooseMetrics = (): Omit<Metrics, 'render'> => (isOn() ? silent.metrics : metrics);
      return {
        ...ports,
        logger: chooseLogger(() => (isOn() ? silent.logger : logger)),
        metrics: {
          ...metrics,
          answered: (answer) => chooseMetrics().answered(answer),
          claimed: (result) => chooseMetrics().claimed(result),
        },
        requests: {
          ...requests,
          async create(record, ...rest) {
            if (!isOn()) return await requests.create(record, ...rest);
            // Of what it is to create it tries to claim what is not there, which costs as much.
            const { requestId, signer: relayer, createdAt: now } = record;
            await requests.claim({ requestId, relayer, claimId: requestId, now });
            return { outcome: 'created' };
          },
        },
      };
    },
  };
}
