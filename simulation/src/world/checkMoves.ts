/** Checks the gateway's promises to relayers: a claim has one holder, only that one reports or gives back, and what has ended stays so. */
import { RELAYER_HEADERS } from '@prism-gateway/protocol';
import { readWhole } from '../core/web.ts';
import type { World } from './createWorld.ts';

/** The gateway's default, in milliseconds. */
const LEASE_MS = 900_000;

interface Holder {
  readonly by: string;
  readonly atMs: number;
}

interface Answered {
  readonly requestId: string;
  readonly status: string;
}

/** Reads the records that an answer says were moved. */
function readMoved(text: string): readonly Answered[] {
  const answer = JSON.parse(text) as Answered | { readonly items: readonly Answered[] };
  return 'items' in answer ? answer.items : [answer];
}

/** Watches all that the gateway answers. */
export function startMoveChecks(
  { realm, restores }: World,
  report: (invariant: string, about: string, text: string) => void,
): void {
  const holders = new Map<string, Holder>();
  const ended = new Map<string, { readonly by: string; readonly status: string }>();
  /** Calls that were never answered, for the gateway died: whether they moved something is not known. */
  const unanswered = new Set<string>();

  /** Requests that have moved since the gateway was put back to an older copy, if it ever was. */
  const moved = new Set<string>();

  const isUnknown = (requestId: string) => [...unanswered].some((text) => text.includes(requestId));

  function checkClaim(requestId: string, by: string): void {
    const [holder, end] = [holders.get(requestId), ended.get(requestId)];
    // Leases go by the gateway's clock, right or wrong.
    const atMs = realm.clock.now() + realm.clockOf('gateway').offMs;
    if (end !== undefined) report('moves', requestId, `A request that is ${end.status} was claimed by ${by}.`);
    if (holder !== undefined && holder.by !== by && atMs < holder.atMs + LEASE_MS)
      report('moves', requestId, `A request that ${holder.by} holds was given to ${by}.`);
    holders.set(requestId, { by, atMs });
  }

  function checkEnd(requestId: string, by: string, status: string): void {
    const end = ended.get(requestId);
    if (end === undefined && holders.get(requestId)?.by !== by)
      report('moves', requestId, `${by} reported what it does not hold.`);
    if (end !== undefined && (end.by !== by || end.status !== status))
      report('moves', requestId, `A request that is ${end.status} by ${end.by} became ${status} by ${by}.`);
    ended.set(requestId, { by, status });
    holders.delete(requestId);
  }

  function checkMove({ requestId, status }: Answered, by: string): void {
    const isLost = isUnknown(requestId);
    if (isLost) ended.delete(requestId);
    // Who holds it by a call without an answer, or by the copy, is not known.
    if (isLost || (restores.count > 0 && !moved.has(requestId)))
      holders.set(requestId, { by, atMs: Number.NEGATIVE_INFINITY });
    moved.add(requestId);
    if (status === 'processing') checkClaim(requestId, by);
    else if (status !== 'pending') checkEnd(requestId, by, status);
    else if (ended.has(requestId)) report('moves', requestId, `${by} gave back what has ended.`);
    else {
      const holder = holders.get(requestId)?.by ?? by;
      if (holder !== by) report('moves', requestId, `${by} gave back what ${holder} holds.`);
      holders.delete(requestId);
    }
  }

  /** Forgets a request that an administrator changes, and what a relayer holds that is released: nobody has to foresee that. */
  function forget(path: string): void {
    for (const [requestId, { by }] of holders)
      if (path.includes(requestId) || path.endsWith(`${by}/release`)) holders.delete(requestId);
    for (const requestId of ended.keys()) if (path.includes(requestId)) ended.delete(requestId);
  }

  let known = restores.count;
  realm.network.observe('gateway:8787', ({ request }) => {
    if (request.method === 'GET') return undefined;
    if (restores.count !== known) for (const one of [holders, ended, moved]) one.clear();
    known = restores.count;
    const path = new URL(request.url).pathname.toLowerCase();
    const by = request.headers.get(RELAYER_HEADERS.address)?.toLowerCase();
    const call = `${path} ${readWhole(request)}`;
    unanswered.add(call);
    return (response) => {
      unanswered.delete(call);
      if (path.startsWith('/admin/')) forget(path);
      else if (by !== undefined && response.status === 200)
        for (const answered of readMoved(readWhole(response))) checkMove(answered, by);
    };
  });
}
