import { MAX_PAGE_SIZE, type RequestRecord } from '@prism-gateway/protocol';
import { isGatewayError } from '@prism-gateway/sdk';
import { ChainError } from '../chain/chainError.ts';
import { findNonce, listSignedParts } from '../checks/findNonce.ts';
import type { OpenRequest, SignedWish } from '../life/openRequest.ts';
import type { Relay } from '../relay.ts';
import { advanceRequest } from './advanceRequest.ts';
import { createBackOff } from './backOff.ts';
import { reportOutcomes } from './reportOutcome.ts';
import { followSubmission } from './submitRequests.ts';

/** Pauses between attempts to ask gateway or chain, in milliseconds. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

function isOwnClaim(relay: Relay, record: RequestRecord): boolean {
  return record.status === 'processing' && record.claimedBy?.toLowerCase() === relay.chain.relayer;
}

/** Reads a request until the gateway answers. @returns undefined where there is none, or the signal ended the asking */
async function readRecord(relay: Relay, requestId: string): Promise<RequestRecord | undefined> {
  const { gateway, random, signal } = relay;
  const backOff = createBackOff({ firstMs: FIRST_PAUSE_MS, maxMs: LONGEST_PAUSE_MS, random, signal });
  for (;;) {
    try {
      return await gateway.get(requestId, { signal });
    } catch (error) {
      if (isGatewayError(error, 'NOT_FOUND')) return undefined;
      if (!isGatewayError(error)) throw error;
    }
    if (!(await backOff.wait())) return undefined;
  }
}

/**
 * Takes on a request whose claim had no answer, or that was claimed before a restart: it is worked on if the gateway says that
 * it is this relayer's, and let go if not.
 *
 * @param relay - the relayer on this chain
 * @param requestId - of a request that the journal has as `claiming` or `claimed`
 */
export async function resumeClaim(relay: Relay, requestId: string): Promise<void> {
  const { journal, desk, now, signal, logger } = relay;
  const record = await readRecord(relay, requestId);
  if (signal.aborted) return;
  if (record === undefined || !isOwnClaim(relay, record)) {
    journal.move([{ requestId, to: 'lost', nowMs: now() }]);
    desk.drop(requestId);
    return;
  }
  if (journal.get(requestId)?.state === 'claiming') journal.move([{ requestId, to: 'claimed', nowMs: now() }]);
  logger.info({ requestId }, 'claim resumed');
  await advanceRequest(relay, requestId);
}

async function resumeRequest(relay: Relay, request: OpenRequest): Promise<void> {
  const { requestId, state, outcome } = request;
  if (state === 'claiming' || state === 'claimed') return await resumeClaim(relay, requestId);
  if (state === 'mined' && outcome !== undefined) await reportOutcomes(relay, [{ requestId, outcome }]);
}

/** What the sender knows is followed; of what it does not, nothing was sent. */
async function resumeSubmission(relay: Relay, intentId: string, requestIds: readonly string[]): Promise<void> {
  const submission = relay.journal.submission(intentId);
  if (submission !== undefined && relay.sender.get(intentId) !== undefined) {
    const returned = await followSubmission(relay, submission);
    await Promise.all(returned.map((requestId) => advanceRequest(relay, requestId)));
    return;
  }
  const nowMs = relay.now();
  relay.journal.move(requestIds.map((requestId) => ({ requestId, to: 'claimed', nowMs })));
  await Promise.all(requestIds.map((requestId) => resumeClaim(relay, requestId)));
}

/**
 * Goes on with everything that the journal holds open: after a start, before anything new is claimed.
 *
 * @param relay - the relayer on this chain
 */
export function resumeJournal(relay: Relay): void {
  const { journal, desk, logger } = relay;
  const open = journal.open();
  if (open.length > 0) logger.info({ open: open.length }, 'going on with open requests');
  for (const request of open) desk.take(request);
  const intents = new Map<string, string[]>();
  for (const request of open) {
    if (request.state === 'submitted' && request.intentId !== undefined) {
      intents.set(request.intentId, [...(intents.get(request.intentId) ?? []), request.requestId]);
    } else desk.run(resumeRequest(relay, request));
  }
  for (const [intentId, requestIds] of intents) desk.run(resumeSubmission(relay, intentId, requestIds));
}

async function findWishes(relay: Relay, record: RequestRecord): Promise<readonly SignedWish[]> {
  const { chain, chainId, recoverSigner } = relay;
  const parts = listSignedParts(record);
  const nonces = await chain.nonces(parts.map(({ signer }) => signer));
  return await Promise.all(
    parts.map(async (part) => {
      const { signer, r, s } = part;
      const current = nonces.get(signer);
      if (current === undefined) throw new ChainError('RPC_UNAVAILABLE', 'The node did not say a nonce.');
      return {
        signer,
        r,
        s,
        nonce: await findNonce({ part, current, chainId, forwarder: chain.forwarder, recoverSigner }),
      };
    }),
  );
}

/** A claim whose relayer has not reported it in time, where the gateway's claims are leases. */
function isStale({ policy, now }: Relay, record: RequestRecord): boolean {
  if (policy.takeOverMs === 0 || record.claimedAt === undefined) return false;
  return now() - Date.parse(record.claimedAt) > policy.takeOverMs;
}

/** Claims a request whose relayer has gone silent; the gateway decides whether its lease is over. */
async function takeOver(relay: Relay, requestId: string): Promise<void> {
  const { gateway, journal, desk, logger, now, signal } = relay;
  try {
    await gateway.claim(requestId, { signal });
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    if (error.code === 'CONFLICT') {
      journal.move([{ requestId, to: 'lost', nowMs: now() }]);
      return desk.drop(requestId);
    }
  }
  logger.info({ requestId }, 'claim of another relayer taken over');
  await resumeClaim(relay, requestId);
}

/**
 * Looks at the gateway for claims that need somebody: those of this relayer that its journal does not know, as after the loss of its
 * disk, and those of relayers that have gone silent. What has become of them the chain is asked first.
 *
 * @param relay - the relayer on this chain
 * @throws GatewayError, ChainError where one of them does not answer
 */
export async function adoptClaims(relay: Relay): Promise<void> {
  const { gateway, settings, journal, desk, logger, now } = relay;
  const list = gateway.list({ status: 'processing', chainName: settings.chainName, limit: MAX_PAGE_SIZE });
  for await (const record of list) {
    const { requestId } = record;
    const isOwn = isOwnClaim(relay, record);
    if (desk.has(requestId) || !(isOwn || (isStale(relay, record) && desk.size < settings.maxInFlight))) continue;
    const wishes = await findWishes(relay, record);
    // Meanwhile a round may have taken it.
    if (desk.has(requestId) || journal.get(requestId) !== undefined) continue;
    const claimedAtMs = isOwn && record.claimedAt !== undefined ? Date.parse(record.claimedAt) : now();
    const request = { requestId, record, wishes, gas: undefined, claimedAtMs };
    desk.take(request);
    if (isOwn) {
      journal.adopt(request);
      logger.info({ requestId }, 'own claim found at the gateway');
      desk.run(advanceRequest(relay, requestId));
    } else {
      journal.begin([request]);
      desk.run(takeOver(relay, requestId));
    }
  }
}
