import { type RequestExecuted, readRequestExecuted } from '@prism-gateway/contracts';
import { createBackOff } from '@prism-gateway/runtime';
import type { Sent } from '@prism-gateway/sender';
import type { Hex } from 'viem';
import { createExecutionTest, listSignedParts } from '../checks/findNonce.ts';
import type { Journal } from '../journal/openJournal.ts';
import { type AskUntoldPorts, askUntold, type EventContext } from './askUntold.ts';
import { type CostPorts, countCosts, noteLoss, type ReadOutcomes, type RequestCost } from './countCosts.ts';
import type { BearOut, Word } from './createBearOut.ts';
import type { ChainNotes } from './createChainNotes.ts';
import type { InFlight } from './createInFlight.ts';
import type { Ended, OpenRequest, Outcome } from './openRequest.ts';

/** Pauses while the nodes do not agree, in milliseconds. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;

/**
 * How long a transaction is waited for that two nodes do not have, though one has shown its receipt, in milliseconds: all of them were given
 * it, and the next blocks may have it. Sent anew at once, it would be paid twice.
 */
const UNMINED_PATIENCE_MS = 30_000;

export interface SettlePorts extends CostPorts, AskUntoldPorts {
  readonly state: AskUntoldPorts['state'];
  /** What nodes say together of a transaction that is mined. */
  readonly bearOut: BearOut;
  readonly journal: Pick<Journal, 'move' | 'submission' | 'addTotals'>;
  readonly inFlight: Pick<InFlight, 'standing' | 'note'>;
  /** Takes requests on while others of the same call are still asked for. */
  readonly advance: (requestIds: readonly string[]) => void;
  readonly notes: Pick<ChainNotes, 'fault' | 'log' | 'mined' | 'earned' | 'lost' | 'spent'>;
}

/** `submitted` becomes `claimed`: nothing of a call is on the chain, and each of its requests is to be checked again, and goes alone. */
export function returnToClaimed(ports: SettlePorts, requests: readonly OpenRequest[]): readonly string[] {
  const { journal, inFlight, now } = ports;
  journal.move(requests.map(({ requestId }) => ({ requestId, to: 'claimed', by: 'settleSubmission', nowMs: now() })));
  for (const { requestId } of requests) {
    if (inFlight.standing(requestId) !== undefined) inFlight.note(requestId, { kind: 'blocked', sinceMs: now() });
  }
  return requests.map(({ requestId }) => requestId);
}

/** `submitted` becomes `mined`: the outcome is known. */
function end({ journal, now }: SettlePorts, ended: readonly Ended[]): readonly string[] {
  const nowMs = now();
  const move = ({ requestId, outcome }: Ended) =>
    ({ requestId, to: 'mined', by: 'settleSubmission', outcome, nowMs }) as const;
  journal.move(ended.map(move));
  return ended.map(({ requestId }) => requestId);
}

/** Waits until the nodes agree on a transaction. @returns `unsettled` where the signal ended the waiting: the next start goes on */
async function awaitAgreement({ bearOut, notes, now, random, signal }: SettlePorts, sent: Sent): Promise<Word> {
  const backOff = createBackOff({ firstMs: FIRST_PAUSE_MS, maxMs: LONGEST_PAUSE_MS, random, signal });
  const sinceMs = now();
  for (;;) {
    const word = await bearOut(sent);
    if (word.kind === 'unsettled' || (word.kind === 'none' && now() - sinceMs < UNMINED_PATIENCE_MS)) {
      notes.fault('chain');
      if (!(await backOff.wait())) return { kind: 'unsettled' };
      continue;
    }
    const { status, blockHash } = word.kind === 'mined' ? word.receipt : { status: undefined, blockHash: undefined };
    if (status !== sent.status || blockHash !== sent.blockHash)
      notes.log.error({ txHash: sent.txHash }, 'a node has made a receipt up; what the others say counts');
    return word;
  }
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

/** Reads what became of requests from the Forwarder's own events in the transaction that carried them. */
function readOutcomes(
  context: EventContext,
  { requests, sent }: { readonly requests: readonly OpenRequest[]; readonly sent: Sent },
): ReadOutcomes {
  const events = readRequestExecuted({ logs: sent.logs, forwarder: context.forwarder });
  const executed = events.filter(({ success }) => success);
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
  const refused = events.filter(({ success }) => !success);
  const refusals = new Map(
    untold.flatMap((request) => {
      const [own] = findOwn(context, request, refused);
      return own === undefined ? [] : [[request.requestId, { reverted: own.reason }] as const];
    }),
  );
  return { outcomes, fees, blamed, untold, refusals };
}

/** A transaction of ours is mined and did not execute the request. That somebody else was faster, or the chain is to blame, is no fault of its signer. */
async function settleUntold(
  ports: SettlePorts,
  request: OpenRequest,
  { sent, read, cost }: { readonly sent: Sent; readonly read: ReadOutcomes; readonly cost: RequestCost | undefined },
): Promise<readonly string[]> {
  const { requestId } = request;
  const found = await askUntold(ports, { request, sent, refusal: read.refusals.get(requestId) });
  if (found === undefined) return [];
  if (cost !== undefined) noteLoss(ports, cost, found.blame);
  return found.outcome === undefined
    ? returnToClaimed(ports, [request])
    : end(ports, [{ requestId, outcome: found.outcome }]);
}

/**
 * Reads what the Forwarder says of each request in a mined transaction, as the nodes have it together, and counts what it has cost.
 *
 * @param mined.requests - `submitted` in one call; they become `mined`, or `claimed` again where nothing of them is on the chain
 * @param mined.told - what the sender's node has said
 * @returns those that have a next move: `reportOutcomes` takes on what is `mined`, `reviewClaim` the rest
 * @see docs/specification.md RELAY-5
 */
export async function settleSubmission(
  ports: SettlePorts,
  { requests, told }: { readonly requests: readonly OpenRequest[]; readonly told: Sent },
): Promise<readonly string[]> {
  const word = await awaitAgreement(ports, told);
  if (word.kind === 'unsettled') return [];
  if (word.kind === 'none') return returnToClaimed(ports, requests);
  const sent = { ...told, ...word.receipt };
  const read = readOutcomes(ports.recovery, { requests, sent });
  const { outcomes, untold } = read;
  const costs = await countCosts(ports, { sent, requests, read });
  // They wait for none of those that have to be asked for.
  ports.advance(
    end(
      ports,
      [...outcomes].map(([requestId, outcome]) => ({ requestId, outcome })),
    ),
  );
  // Whose fault it is that a batch has reverted as a whole, nobody knows: each of its requests is checked again, and goes alone.
  if (requests.length > 1 && sent.status === 'reverted') {
    for (const cost of costs.values()) noteLoss(ports, cost, 'nobody');
    return returnToClaimed(ports, untold);
  }
  const settled = untold.map((request) =>
    settleUntold(ports, request, { sent, read, cost: costs.get(request.requestId) }),
  );
  return (await Promise.all(settled)).flat();
}
