import { setTimeout as sleep } from 'node:timers/promises';
import { isJournalFault } from '@prism-gateway/alerts';
import type { Tracer } from '@prism-gateway/runtime/tracing';
import { SenderError } from '@prism-gateway/sender';
import type { Journal } from '../journal/openJournal.ts';
import type { ChainNotes } from './createChainNotes.ts';
import type { InFlight, Standing } from './createInFlight.ts';
import { NEXT } from './lifecycle.ts';
import type { OpenRequest } from './openRequest.ts';

/** Pause before requests are handled again whose moves could not be written down, in milliseconds. */
const JOURNAL_PAUSE_MS = 1000;
/** Pauses after a defect, in milliseconds: before what was handled together is handled one by one, and before one is handled again. */
const DEFECT_PAUSE_MS = { together: 1000, alone: 30_000 };

/** Moves requests on from one state. @returns ids of those that have a next move; the others have ended, or wait for the next start */
type Handler = (requests: readonly OpenRequest[]) => Promise<readonly string[]>;

/** Who takes a request on, by where it stands; each is the file of its name. */
export interface Handlers {
  /** `claiming`, or `claimed` before a restart: asks the gateway whose it is. */
  readonly confirmClaim: Handler;
  /** `claimed`, and checked a moment ago: hands it to the sender. */
  readonly submitClaims: Handler;
  /** `claimed`, and something is in the way: checks it until it can be submitted, or has an outcome. */
  readonly reviewClaim: Handler;
  /** `submitted`: waits for its transaction. */
  readonly followSubmission: Handler;
  /** `mined`: tells the gateway. */
  readonly reportOutcomes: Handler;
}

export interface AdvancePorts {
  readonly journal: Pick<Journal, 'get'>;
  readonly inFlight: Pick<InFlight, 'standing' | 'run'>;
  readonly handlers: Handlers;
  readonly notes: Pick<ChainNotes, 'fault' | 'log'>;
  readonly signal: AbortSignal;
}

interface Step {
  readonly handler: keyof Handlers;
  /** Requests of one lane are handled together. */
  readonly lane: string;
}

/** @throws never: each open state has its handler */
function chooseStep({ requestId, state, intentId }: OpenRequest, standing: Standing | undefined): Step {
  if (state === 'submitted') return { handler: NEXT.submitted, lane: intentId ?? requestId };
  if (state === 'mined') return { handler: NEXT.mined, lane: 'all' };
  // Before a restart.
  if (state === 'claiming' || standing === undefined) return { handler: NEXT.claiming, lane: requestId };
  if (standing.kind === 'ready') return { handler: NEXT.claimed, lane: 'all' };
  return { handler: 'reviewClaim', lane: requestId };
}

/** Tells what went wrong. @returns how long to wait, and whether what was handled together goes on together */
function noteFailure({ notes }: AdvancePorts, requests: readonly OpenRequest[], error: unknown) {
  const isSenders = error instanceof SenderError && error.code === 'JOURNAL_FAILED';
  if (isSenders || isJournalFault(error)) {
    notes.fault('journal');
    notes.log.error(
      { reason: error.message, requests: requests.length },
      'the journal cannot be written; trying again',
    );
    return { pauseMs: JOURNAL_PAUSE_MS, isTogether: true };
  }
  notes.fault('work');
  notes.log.error({ err: error, requests: requests.length }, 'work on requests failed; each is tried again by itself');
  return { pauseMs: requests.length > 1 ? DEFECT_PAUSE_MS.together : DEFECT_PAUSE_MS.alone, isTogether: false };
}

/**
 * Nothing that is claimed is left lying: what has not moved is handled again, as after a restart. A journal that cannot be written now, for
 * the disk is full, ends nothing; nor does one request that brings a defect to light, with which the others are not handled again.
 */
async function tryAgain(ports: AdvancePorts, requests: readonly OpenRequest[], error: unknown): Promise<void> {
  const { journal, signal } = ports;
  const { pauseMs, isTogether } = noteFailure(ports, requests, error);
  await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  if (signal.aborted) return;
  const still = requests
    .filter(({ requestId, state }) => journal.get(requestId)?.state === state)
    .map(({ requestId }) => requestId);
  for (const ids of isTogether ? [still] : still.map((id) => [id])) advanceRequests(ports, ids);
}

/**
 * Takes requests on from wherever the journal has them, move by move, until each has ended. Those that go together stay together.
 * The work goes on beside the caller's; `inFlight` keeps it.
 *
 * @param requestIds - those that have ended are passed over
 */
export function advanceRequests(ports: AdvancePorts, requestIds: readonly string[]): void {
  const { journal, inFlight, handlers } = ports;
  const lanes = new Map<string, { readonly handle: Handler; readonly requests: OpenRequest[] }>();
  for (const requestId of requestIds) {
    const request = journal.get(requestId);
    if (request === undefined) continue;
    const { handler, lane } = chooseStep(request, inFlight.standing(requestId));
    const key = `${handler} ${lane}`;
    const together = lanes.get(key) ?? { handle: handlers[handler], requests: [] };
    together.requests.push(request);
    lanes.set(key, together);
  }
  for (const { handle, requests } of lanes.values()) {
    const handled = handle(requests).then((moved) => advanceRequests(ports, moved));
    inFlight.run(handled.catch((error: unknown) => tryAgain(ports, requests, error)));
  }
}

/**
 * Makes each move of requests a span that names them: so the traces of a user, a gateway and a relayer are joined.
 *
 * @param tracer - undefined: nothing is traced
 */
export function traceHandlers(handlers: Handlers, tracer: Tracer | undefined): Handlers {
  if (tracer === undefined) return handlers;
  const traced = Object.entries(handlers).map(([name, handle]: [string, Handler]) => {
    const move: Handler = (requests) => {
      const attributes = { 'prism.request_ids': requests.map(({ requestId }) => requestId) };
      return tracer.run({ name, attributes }, () => handle(requests));
    };
    return [name, move];
  });
  // The same handlers by the same names.
  return Object.fromEntries(traced) as Handlers;
}
