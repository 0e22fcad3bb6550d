import { type RequestExecuted, readRequestExecuted } from '@prism-gateway/contracts';
import type { Sent } from '@prism-gateway/sender';
import type { Hex } from 'viem';
import { createExecutionTest } from '../checks/createExecutionTest.ts';
import { listSignedParts, type NonceContext } from '../checks/findNonce.ts';
import type { OpenRequest, Outcome } from './openRequest.ts';

/** What a transaction's events are read by. */
export type EventContext = Pick<NonceContext, 'chainId' | 'forwarder'>;

/** What the events of a mined transaction say of its requests. */
export interface ReadOutcomes {
  /** By request id: executed, as an event with its digest says. */
  readonly outcomes: ReadonlyMap<string, Outcome>;
  /** Credits that each request has paid, before the split, by its id. */
  readonly fees: ReadonlyMap<string, bigint>;
  /** By request id: signers of which nothing was carried out; of one that was carried out whole, all. */
  readonly blamed: ReadonlyMap<string, readonly Hex[]>;
  /** Requests that no event says to be executed: the chain has to be asked. */
  readonly untold: readonly OpenRequest[];
}

/** The events that carry the digest of one of a request's signatures. */
function findOwn(
  context: EventContext,
  { record }: Pick<OpenRequest, 'record'>,
  events: readonly RequestExecuted[],
): readonly RequestExecuted[] {
  const tests = listSignedParts(record).map((part) => createExecutionTest(context, part));
  return events.filter((event) => tests.some((isAbout) => isAbout(event)));
}

/**
 * Reads what became of requests from the Forwarder's own events in the transaction that carried them.
 *
 * @param context - chain and Forwarder
 * @param mined.sent - the transaction, deep enough
 * @see docs/specification.md RELAY-5
 */
export function readOutcomes(
  context: EventContext,
  mined: { readonly requests: readonly OpenRequest[]; readonly sent: Pick<Sent, 'txHash' | 'logs'> },
): ReadOutcomes {
  const { requests, sent } = mined;
  const executed = readRequestExecuted({ logs: sent.logs, forwarder: context.forwarder }).filter(
    ({ success }) => success,
  );
  const outcomes = new Map<string, Outcome>();
  const fees = new Map<string, bigint>();
  const blamed = new Map<string, readonly Hex[]>();
  const untold: OpenRequest[] = [];
  for (const request of requests) {
    const own = findOwn(context, request, executed);
    // Whether another transaction was faster, the event of a refused entry does not say.
    if (own.length === 0) untold.push(request);
    else outcomes.set(request.requestId, { status: 'success', txHash: sent.txHash });
    const paid = own.reduce((sum, { relayerFee }) => sum + relayerFee, 0n);
    fees.set(request.requestId, paid);
    const signers = request.signatures.map(({ signer }) => signer);
    const idle = signers.filter((signer) => !own.some((event) => event.signer.toLowerCase() === signer));
    blamed.set(request.requestId, idle.length === 0 ? signers : idle);
  }
  return { outcomes, fees, blamed, untold };
}

/** What a call reverted with: the ABI-encoded error; undefined where the node did not tell. */
export interface Revert {
  readonly reverted: Hex | undefined;
}

/** Finds the reason that the Forwarder gave for a request's refused entry. @returns undefined where none was refused */
export function readFailure(
  context: EventContext,
  source: { readonly request: OpenRequest; readonly sent: Pick<Sent, 'logs'> },
): Revert | undefined {
  const refused = readRequestExecuted({ logs: source.sent.logs, forwarder: context.forwarder }).filter(
    ({ success }) => !success,
  );
  const [own] = findOwn(context, source.request, refused);
  return own === undefined ? undefined : { reverted: own.reason };
}
