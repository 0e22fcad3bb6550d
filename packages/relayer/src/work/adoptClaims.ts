import { MAX_PAGE_SIZE, type RequestRecord } from '@prism-gateway/protocol';
import { findWishes } from '../checks/findWishes.ts';
import type { OpenRequest } from '../life/openRequest.ts';
import type { Relay } from '../relay.ts';
import { advanceRequest } from './advanceRequest.ts';
import { isOwnClaim, readRecord } from './resumeRequests.ts';
import { runLimited } from './runLimited.ts';
import { isStale, takeOverStale } from './takeOver.ts';

/** Most own claims that are looked up at once. */
const MAX_LOOKUPS = 8;

/** Asks the gateway once more: the list may be older than this relayer's own report. */
async function resumeOwn(relay: Relay, request: Omit<OpenRequest, 'state' | 'intentId' | 'outcome' | 'attempts'>) {
  const { journal, desk, logger, signal } = relay;
  const { requestId } = request;
  const record = await readRecord(relay, requestId);
  if (signal.aborted || record === undefined || !isOwnClaim(relay, record)) return desk.drop(requestId);
  journal.adopt(request);
  logger.info({ requestId }, 'own claim found at the gateway');
  await advanceRequest(relay, requestId);
}

async function adoptOwn(relay: Relay, record: RequestRecord): Promise<void> {
  const { journal, desk, now } = relay;
  const { requestId } = record;
  const wishes = await findWishes(relay, record);
  // Meanwhile a round may have taken it.
  if (wishes === undefined || desk.has(requestId) || journal.get(requestId) !== undefined) return;
  const claimedAtMs = record.claimedAt === undefined ? now() : Date.parse(record.claimedAt);
  const request = { requestId, record, wishes, gas: undefined, claimedAtMs };
  // Before the gateway is asked: from here on nothing else takes it.
  desk.take(request);
  desk.run(resumeOwn(relay, request));
}

async function adoptAll(relay: Relay): Promise<void> {
  const { gateway, settings, desk, signal } = relay;
  const filter = { status: 'processing', chainName: settings.chainName, limit: MAX_PAGE_SIZE } as const;
  for await (const { items } of gateway.list(filter, { signal }).pages()) {
    const unknown = items.filter(({ requestId }) => !desk.has(requestId));
    const own = unknown.filter((record) => isOwnClaim(relay, record));
    await runLimited({ list: own, limit: MAX_LOOKUPS, act: (record) => adoptOwn(relay, record) });
    await takeOverStale(
      relay,
      unknown.filter((record) => !isOwnClaim(relay, record) && isStale(relay, record)),
    );
  }
}

/**
 * Looks at the gateway for claims that need somebody: those of this relayer that its journal does not know, as after the loss of its
 * disk, and those of relayers that have gone silent. The signal ends it.
 *
 * @param relay - the relayer on this chain
 * @throws GatewayError, ChainError where one of them does not answer
 */
export async function adoptClaims(relay: Relay): Promise<void> {
  try {
    await adoptAll(relay);
  } catch (error) {
    if (!relay.signal.aborted) throw error;
  }
}
