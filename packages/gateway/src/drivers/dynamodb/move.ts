import { isStatusMove, type RequestStatus } from '@prism-gateway/protocol';
import type { BatchTransition, ClaimTransition, Transition } from '../../ports/requestStore.ts';
import { type Update, update, type Written } from './items.ts';
import type { ParamsReader } from './params.ts';
import { callMarkOf, headOf, isExpired, type RequestHeader, type RequestTable, statusAttributes } from './record.ts';

/** A conditional write that moves a request to a status. */
export interface Move extends Pick<Update, 'set' | 'compute' | 'remove' | 'condition' | 'values'> {
  /** In any letter case. */
  readonly requestId: string;
  /** Where the condition lets it come from: a state of the table of moves. */
  readonly from: RequestStatus;
  readonly to: RequestStatus;
  /** The id of the call; its mark is stored, and distinguishes a repetition from a rival. */
  readonly callId: string;
}

/** Moves a request by one conditional write. It costs the same for any params: only the head is written. */
export async function moveRequest(table: RequestTable, move: Move): Promise<Written> {
  const { from, to, callId, set, ...rest } = move;
  const requestId = move.requestId.toLowerCase();
  if (!isStatusMove(from, to)) throw new Error(`A request may not move from ${from} to ${to}.`);
  return await update(table, {
    ...rest,
    key: { requestId },
    set: { ...set, ...statusAttributes(to, requestId, table.shards), callMark: callMarkOf(callId) },
  });
}

/** A move that only the owner of a claim may make. */
interface OwnersMove extends Omit<Move, 'condition' | 'values'> {
  readonly relayer: string;
  /** When the claim was made that is meant. */
  readonly claimedAt?: number | undefined;
}

/** The owner's address as the claim has it, if the move only writes its letters in another case. */
function ownerInOtherCase({ done, item }: Written, { relayer, from }: OwnersMove): string | undefined {
  const head = done ? undefined : headOf(item);
  if (head?.record.status !== from) return undefined;
  const owner = head.record.claimedBy;
  return owner !== relayer && owner?.toLowerCase() === relayer.toLowerCase() ? owner : undefined;
}

/** Makes an owner's move. The condition compares the owner letter for letter; if only letter case differs, the claim's letters are taken. */
export async function moveAsOwner(table: RequestTable, move: OwnersMove): Promise<Written> {
  const { relayer, claimedAt, ...rest } = move;
  const moveAs = (owner: string) =>
    moveRequest(table, {
      ...rest,
      condition: `#status = :held AND #claimedBy = :owner${claimedAt === undefined ? '' : ' AND #claimedAt = :since'}`,
      values: { ':held': move.from, ':owner': owner, ':since': claimedAt },
    });
  const written = await moveAs(relayer);
  const owner = ownerInOtherCase(written, move);
  return owner === undefined ? written : await moveAs(owner);
}

/** Whether it was a call that moved a request last. */
export const isMarkedBy = ({ callMark = new Uint8Array() }: RequestHeader, callId: string) =>
  Buffer.compare(callMarkOf(callId), callMark) === 0;

/**
 * What a move did. Refused with the call's own mark in the head, it was this call that moved the request, at a try of which the
 * answer was lost.
 */
export async function transitionOf(
  table: RequestTable,
  params: Pick<ParamsReader, 'complete'>,
  { done, item }: Written,
  callId: string,
): Promise<Transition> {
  const head = headOf(item);
  if (head === undefined || (!done && isExpired(head, table.now()))) return { outcome: 'missing' };
  const [record] = await params.complete([head]);
  if (record === undefined) return { outcome: 'missing' };
  return { outcome: done || isMarkedBy(head, callId) ? 'moved' : 'conflict', record };
}

/** Stands in for the params, which a batch does not answer with: nothing is read. */
export const noParams: Pick<ParamsReader, 'complete'> = {
  complete: async (heads) => heads.map(({ record }) => ({ ...record, paramsJson: '' })),
};

/** Makes the moves of a batch. @returns one a move, in their order @throws DependencyUnavailableError */
export function moveAll<M>(
  moves: readonly M[],
  move: (move: M) => Promise<ClaimTransition>,
): Promise<readonly BatchTransition[]> {
  return Promise.all(
    moves.map(async (one): Promise<BatchTransition> => {
      const transition = await move(one);
      const { outcome } = transition;
      if (outcome === 'missing') return transition;
      const { paramsJson: _, ...record } = transition.record;
      return outcome === 'moved' ? { outcome, record } : { outcome, status: record.status };
    }),
  );
}
