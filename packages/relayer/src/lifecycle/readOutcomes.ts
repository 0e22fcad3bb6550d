import { type RequestExecuted, readRequestExecuted } from '@prism-gateway/contracts';
import type { Sent } from '@prism-gateway/sender';
import type { Hex } from 'viem';
import type { OpenRequest, Outcome } from './openRequest.ts';

/** What the events of a mined transaction say of its requests. */
export interface ReadOutcomes {
  /** By request id: executed, or failed with the Forwarder's reason. */
  readonly outcomes: ReadonlyMap<string, Outcome>;
  /** Requests that no event tells of: the chain has to be asked. */
  readonly untold: readonly OpenRequest[];
  /** Credits that were paid, before the split. */
  readonly fees: bigint;
}

/** An event of each each, in the order of the entries: a signer may have several. */
function takeEvents(request: OpenRequest, events: RequestExecuted[]): RequestExecuted[] {
  const taken: RequestExecuted[] = [];
  for (const { signer } of request.signatures) {
    const index = events.findIndex((event) => event.signer.toLowerCase() === signer);
    if (index >= 0) taken.push(...events.splice(index, 1));
  }
  return taken;
}

/**
 * Reads what became of requests from the Forwarder's own events in the transaction that carried them.
 *
 * @param mined.requests - in the order in which they were put into the call
 * @param mined.sent - the transaction, deep enough
 * @see docs/specification.md RELAY-5
 */
export function readOutcomes(mined: {
  readonly requests: readonly OpenRequest[];
  readonly sent: Pick<Sent, 'txHash' | 'logs'>;
  readonly forwarder: string;
}): ReadOutcomes {
  const { requests, sent, forwarder } = mined;
  const events = [...readRequestExecuted({ logs: sent.logs, forwarder })];
  const fees = events.reduce((sum, { relayerFee }) => sum + relayerFee, 0n);
  const outcomes = new Map<string, Outcome>();
  const untold: OpenRequest[] = [];
  for (const request of requests) {
    const own = takeEvents(request, events);
    if (own.some(({ success }) => success)) outcomes.set(request.requestId, { status: 'success', txHash: sent.txHash });
    // Whether another transaction was faster, the event of a failed entry does not say.
    else untold.push(request);
  }
  return { outcomes, untold, fees };
}

/** What a call reverted with: the ABI-encoded error; undefined where the node did not tell. */
export interface Revert {
  readonly reverted: Hex | undefined;
}

/** Finds the reason that the Forwarder gave for a signer's failed entry. @returns undefined where no entry failed */
export function readFailure(source: {
  readonly request: OpenRequest;
  readonly sent: Pick<Sent, 'logs'>;
  readonly forwarder: string;
}): Revert | undefined {
  const signers = source.request.signatures.map(({ signer }) => signer);
  const failed = readRequestExecuted({ logs: source.sent.logs, forwarder: source.forwarder }).find(
    ({ success, signer }) => !success && signers.some((own) => own === signer.toLowerCase()),
  );
  return failed === undefined ? undefined : { reverted: failed.reason };
}
