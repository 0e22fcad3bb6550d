import type { RequestRecord } from '@prism-gateway/protocol';
import { GatewayError } from '../errors/gatewayError.ts';
import { isTransient, withRetries } from '../http/withRetries.ts';
import { getRequest } from '../requests/getRequest.ts';
import { type Move, type RelayerContext, updateRequest } from './updateRequest.ts';

/** How a move is known to have been made. */
export interface MoveRules {
  /** Whether the record shows that this move has been made, by this relayer. */
  readonly isDone: (record: RequestRecord) => boolean;
  /** `always`: a conflict is looked into even where no answer was lost, since the call may repeat one of an earlier process. */
  readonly readBack: 'always' | 'afterLostAnswer';
}

/**
 * Moves a request's state, and where an answer was lost reads the request back before it asks again: a move that was made is
 * a success, whatever became of its answer.
 *
 * Asking again is safe: the gateway makes a move once, and answers the second with 409.
 *
 * @throws GatewayError CONFLICT, NOT_FOUND, UNAUTHORISED, and what any call may throw
 */
export async function moveRequest(
  context: RelayerContext,
  { move, isDone, readBack }: MoveRules & { readonly move: Move },
): Promise<RequestRecord> {
  const { transport } = context;
  const { requestId, signal } = move;
  let isAnswerLost = false;
  async function readDone(): Promise<RequestRecord | undefined> {
    const record = await getRequest(transport, { requestId, signal });
    return isDone(record) ? record : undefined;
  }
  async function attempt(): Promise<RequestRecord> {
    const done = isAnswerLost ? await readDone() : undefined;
    if (done !== undefined) return done;
    try {
      return await updateRequest(context, move);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      const late = error.code === 'CONFLICT' && (isAnswerLost || readBack === 'always') ? await readDone() : undefined;
      if (late !== undefined) return late;
      isAnswerLost ||= error.mayHaveHappened;
      throw error;
    }
  }
  const what = `PATCH /requests/${requestId}`;
  const canRepeat = (error: GatewayError) => isAnswerLost && isTransient(error);
  return await withRetries(transport, { what, signal, canRepeat }, attempt);
}
