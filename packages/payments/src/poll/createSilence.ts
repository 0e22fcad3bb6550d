import { createPaymentLatch } from '../alerts/createPaymentLatch.ts';
import type { RelayerContext } from '../flow/relayerContext.ts';
import { FrontendError } from '../frontend/FrontendError.ts';

/** Polls in a row without an answer, then people are told. */
const MAX_SILENT_POLLS = 5;

/** Who of frontend and node does not answer. */
export interface Silence {
  /** The frontend has answered. */
  clearFrontend(): void;
  /** Both have answered all that a poll asks. */
  clear(): void;
  /** Counts a poll that failed. @param reason - of the error, for people */
  note(error: unknown, reason: string): void;
}

/**
 * Makes the count of failed polls; people are told when it grows too large, and when it has ended.
 *
 * @param context - alerts, journal and clock
 */
export function createSilence(context: RelayerContext): Silence {
  const latches = {
    frontend: createPaymentLatch(context, {
      code: 'FRONTEND_SILENT',
      subject: 'The frontend does not answer',
      over: 'The frontend answers again',
    }),
    node: createPaymentLatch(context, {
      code: 'NODE_SILENT',
      subject: 'The node does not answer, or is behind',
      over: 'The node answers again',
    }),
  };
  let polls = { frontend: 0, node: 0 };
  return {
    clearFrontend: () => latches.frontend.clear(),
    clear() {
      polls = { frontend: 0, node: 0 };
      latches.node.clear();
    },
    note(error, reason) {
      const who = error instanceof FrontendError ? 'frontend' : 'node';
      polls[who] += 1;
      if (polls[who] < MAX_SILENT_POLLS) return;
      latches[who].raise(`${polls[who]} polls in a row failed. ${reason}`);
    },
  };
}
