import { randomUUID } from 'node:crypto';
import { REQUEST_MOVES } from '@prism-gateway/protocol';
import type { Release, ReleaseAll, Report, Transition } from '../../ports/requestStore.ts';

import { moveAsOwner, transitionOf } from './move.ts';
import type { OpenClaims } from './openClaims.ts';
import type { ParamsReader } from './params.ts';
import { positionBytes, positionOf } from './position.ts';
import { expiryOf, type RequestTable, transactionKey } from './record.ts';
import { TTL_ATTRIBUTE } from './tables.ts';

type ParamsSource = Pick<ParamsReader, 'complete'>;

/** Reports how a request ended: its owner's `processing` becomes `success` or `failed`. */
export async function reportRequest(
  table: RequestTable,
  params: ParamsSource,
  { requestId, relayer, reportId: callId, now, outcome }: Report,
): Promise<Transition> {
  const isSuccess = outcome.status === 'success';
  const written = await moveAsOwner(table, {
    ...{ requestId, relayer, from: REQUEST_MOVES.report.from, to: outcome.status, callId },
    set: {
      ...(isSuccess
        ? { txHash: outcome.txHash, foundBy: transactionKey(outcome.txHash) }
        : { errorMessage: outcome.errorMessage }),
      updatedAt: now,
      [TTL_ATTRIBUTE]: expiryOf(table.retentionDays, now),
    },
    ...(isSuccess && { compute: { foundAt: '#order' } }),
    // Nobody holds it any more, and what it is found by takes the room.
    remove: ['heldSince'],
  });
  return await transitionOf(table, params, written, callId);
}

/** Attributes that a claim or a failure leaves; released without them, the record no longer expires. */
const CLAIM_ATTRIBUTES = ['claimedBy', 'claimedAt', 'errorMessage', TTL_ATTRIBUTE] as const;

/** Gives a claim back: its owner's `processing` becomes `pending`, and nothing of the claim stays. Or reopens what it reported failed. */
export async function releaseRequest(
  table: RequestTable,
  params: ParamsSource,
  { kind, requestId, relayer, releaseId: callId, now, claimedAt }: Release & { readonly kind: 'release' | 'reopen' },
): Promise<Transition> {
  const { from, to } = REQUEST_MOVES[kind];
  const foundAt = positionBytes(positionOf({ createdAt: now, requestId: requestId.toLowerCase() }));
  const isRelease = kind === 'release';
  const written = await moveAsOwner(table, {
    ...{ requestId, relayer, from, to: to[0], callId, claimedAt },
    set: {
      ...{ updatedAt: now, foundAt },
      // Who gives back and claims again holds on.
      ...(isRelease && { heldBy: relayer.toLowerCase() }),
    },
    compute: { foundBy: '#chainName', ...(isRelease && { heldSince: 'if_not_exists(#heldSince, #claimedAt)' }) },
    remove: isRelease ? CLAIM_ATTRIBUTES : [...CLAIM_ATTRIBUTES, 'heldSince'],
  });
  return await transitionOf(table, params, written, callId);
}

/** Releases under way at once: few, so that the work of others goes on. */
const RELEASES_AT_ONCE = 8;

/**
 * Gives back what a relayer holds, as the index shows it now. A claim of the last second may not be in it yet: who has ended a relayer's
 * access asks until nothing is left, and once more.
 *
 * @param release - gives one claim back
 * @returns how many; as many as the limit if there may be more
 */
export async function releaseAll(
  openClaims: OpenClaims,
  { relayer, now, limit }: ReleaseAll,
  release: (release: Release) => Promise<Transition>,
): Promise<number> {
  const claims = [...(await openClaims.read(0)).values()];
  const held = claims.filter((claim) => claim.relayer.toLowerCase() === relayer.toLowerCase());
  const releaseId = randomUUID();
  let count = 0;
  for (let at = 0; at < held.length && count < limit; ) {
    const slice = held.slice(at, at + Math.min(RELEASES_AT_ONCE, limit - count));
    at += slice.length;
    const transitions = await Promise.all(
      slice.map((claim) => release({ requestId: claim.requestId, relayer: claim.relayer, releaseId, now })),
    );
    count += transitions.filter(({ outcome }) => outcome === 'moved').length;
  }
  return count;
}
