import { setTimeout as sleep } from 'node:timers/promises';
import { isJournalFault } from '@prism-gateway/node/alerts';
import type { Tracer } from '@prism-gateway/node/tracing';
import { SenderError } from '@prism-gateway/sender';
import { confirmClaim } from './confirmClaim.ts';
import type { RelayerContext } from './context.ts';
import { followSubmission } from './followSubmission.ts';
import type { ClaimStatus } from './inFlight.ts';
import { reportOutcomes } from './reportOutcomes.ts';
import { reviewClaim } from './reviewClaim.ts';
import type { OpenRequest } from './states.ts';
import { submitClaims } from './submitClaims.ts';

/** Pauses before requests are handled again whose moves could not be written down, in milliseconds: of what is given back the gateway is asked. */
const JOURNAL_PAUSE_MS = { sent: 1000, givenBack: 3000 };
/** Pauses after a defect, in milliseconds: before what was handled together is handled one by one, and before one is handled again. */
const DEFECT_PAUSE_MS = { together: 1000, alone: 30_000 };

/** Moves requests on from one state. @returns ids of those that have a next move; the others have ended, or wait for the next start */
type Step = (context: RelayerContext, requests: readonly OpenRequest[]) => Promise<readonly string[]>;

/** The steps by name, as traces have it. */
const STEPS = { confirmClaim, submitClaims, reviewClaim, followSubmission, reportOutcomes } satisfies Record<
  string,
  Step
>;

/** Which step takes a request on. Requests of one lane are handled together. @throws never: each open state has its step */
function chooseStep({ requestId, state, intentId }: OpenRequest, status: ClaimStatus | undefined) {
  if (state === 'submitted') return { step: 'followSubmission', lane: intentId ?? requestId } as const;
  if (state === 'finalized') return { step: 'reportOutcomes', lane: 'all' } as const;
  // Before a restart.
  if (state === 'claiming' || status === undefined) return { step: 'confirmClaim', lane: requestId } as const;
  if (status.kind === 'ready') return { step: 'submitClaims', lane: 'all' } as const;
  return { step: 'reviewClaim', lane: requestId } as const;
}

/**
 * Gives back to the others what is claimed and not sent, since nothing is sent before it is written down. The journal has it as this relayer's
 * still: once it can be written, the gateway is asked whose it is.
 *
 * @returns whether there was any
 */
async function giveBackUnsent(
  { gateway, journal, inFlight, events }: RelayerContext,
  requests: readonly OpenRequest[],
) {
  const unsent = requests.filter(({ requestId }) =>
    ['claiming', 'claimed'].includes(`${journal.get(requestId)?.state}`),
  );
  for (const { requestId } of unsent) inFlight.forget(requestId);
  await Promise.all(
    unsent.map(async ({ requestId }) => {
      try {
        const result = await gateway.release(requestId);
        if (result !== 'released') return;
        events.emit({ type: 'claim-released', requestId, reason: 'the journal cannot be written' });
      } catch (err) {
        // A defect here, or a key that cannot sign, must not end the trying.
        events.emit({ type: 'work-failed', where: 'work', err, requests: 1 });
      }
    }),
  );
  return unsent.length > 0;
}

/** Reports what went wrong. @returns how long to wait, and whether what was handled together goes on together */
async function reportFailure(context: RelayerContext, requests: readonly OpenRequest[], err: unknown) {
  const { events } = context;
  const isSenders = err instanceof SenderError && err.code === 'JOURNAL_FAILED';
  if (isSenders || isJournalFault(err)) {
    events.emit({ type: 'journal-failed', where: 'journal', reason: err.message, requests: requests.length });
    const isGivenBack = await giveBackUnsent(context, requests);
    return { pauseMs: JOURNAL_PAUSE_MS[isGivenBack ? 'givenBack' : 'sent'], isTogether: true };
  }
  events.emit({ type: 'work-failed', where: 'work', err, requests: requests.length });
  return { pauseMs: requests.length > 1 ? DEFECT_PAUSE_MS.together : DEFECT_PAUSE_MS.alone, isTogether: false };
}

/**
 * Nothing that is claimed is left lying: what has not moved is handled again, as after a restart. A journal that cannot be written now, for
 * the disk is full, ends nothing that was sent; nor does one request that brings a defect to light, with which the others are not handled again.
 */
async function tryAgain(context: RelayerContext, requests: readonly OpenRequest[], error: unknown): Promise<void> {
  const { journal, signal, advance } = context;
  const { pauseMs, isTogether } = await reportFailure(context, requests, error);
  await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  if (signal.aborted) return;
  const still = requests
    .filter(({ requestId, state }) => journal.get(requestId)?.state === state)
    .map(({ requestId }) => requestId);
  for (const ids of isTogether ? [still] : still.map((id) => [id])) advance(ids);
}

/**
 * Takes requests on from wherever the journal has them, move by move, until each has ended. Those that go together stay together.
 * The work goes on beside the caller's; `inFlight` keeps it.
 *
 * @param advanced.requestIds - those that have ended are passed over
 * @param advanced.tracer - makes each move a span that names its requests: so the traces of a user, a gateway and a relayer are joined
 */
export function advanceRequests(
  context: RelayerContext,
  { requestIds, tracer }: { readonly requestIds: readonly string[]; readonly tracer?: Tracer | undefined },
): void {
  const { journal, inFlight, advance } = context;
  const lanes = new Map<string, { readonly name: keyof typeof STEPS; readonly requests: OpenRequest[] }>();
  for (const requestId of requestIds) {
    const request = journal.get(requestId);
    if (request === undefined) continue;
    const { step, lane } = chooseStep(request, inFlight.status(requestId));
    const key = `${step} ${lane}`;
    const together = lanes.get(key) ?? { name: step, requests: [] };
    together.requests.push(request);
    lanes.set(key, together);
  }
  for (const { name, requests } of lanes.values()) {
    const attributes = { 'prism.request_ids': requests.map(({ requestId }) => requestId) };
    const take = () => STEPS[name](context, requests);
    const moved = tracer === undefined ? take() : tracer.run({ name, attributes }, take);
    inFlight.run(moved.then(advance).catch((error: unknown) => tryAgain(context, requests, error)));
  }
}
