import type { RequestRecord, UpdateRequestBody } from '@prism-gateway/protocol';
import { GatewayError } from '../errors/gatewayError.ts';
import { unexpectedAnswer } from '../errors/unexpectedAnswer.ts';
import type { OutgoingCall, Transport } from '../http/createTransport.ts';
import { isTransient, withRetries } from '../http/withRetries.ts';
import { type CallOptions, getRequest } from '../requests/getRequest.ts';
import { readRecord } from '../requests/readRecord.ts';

/** What a relayer's calls are made with. */
export interface RelayerContext {
  readonly transport: Transport;
  /** The relayer's own address, in any letter case. */
  readonly address: string;
  /** Signs relayer auth for one call. */
  readonly makeHeaders: (call: OutgoingCall) => Promise<Record<string, string>>;
}

/** One move of a request's state. */
export interface Move extends CallOptions {
  readonly requestId: string;
  /** What is asked for; absent: to give the request back. */
  readonly body?: UpdateRequestBody;
}

/**
 * Asks for one move of a request's state, once.
 *
 * @throws GatewayError; with `mayHaveHappened` where the answer was lost
 * @see docs/specification.md CLAIM-4, REPORT-1
 */
async function updateRequest(
  { transport, makeHeaders }: RelayerContext,
  { requestId, body, signal }: Move,
): Promise<RequestRecord> {
  const path = `/requests/${encodeURIComponent(requestId)}`;
  const how = body
    ? ({ method: 'PATCH', path, body } as const)
    : ({ method: 'POST', path: `${path}/release` } as const);
  const answer = await transport.call({ ...how, makeHeaders, repeat: 'ifUnsent', signal });
  return readRecord(`${how.method} ${how.path}`, answer, requestId);
}

/** Tells whether a record is under this relayer's claim. */
export function isOwnClaim({ address }: RelayerContext, record: RequestRecord): boolean {
  return record.claimedBy?.toLowerCase() === address.toLowerCase();
}

/** Tells whether a record is claimed, by this relayer. */
export function isClaimed(context: RelayerContext, record: RequestRecord): boolean {
  return record.status === 'processing' && isOwnClaim(context, record);
}

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
  const what = `The move of request ${requestId}`;
  let isAnswerLost = false;
  async function readDone(): Promise<RequestRecord | undefined> {
    const record = await getRequest(transport, { requestId, signal });
    return isDone(record) ? record : undefined;
  }
  async function attempt(): Promise<RequestRecord> {
    const done = isAnswerLost ? await readDone() : undefined;
    if (done !== undefined) return done;
    try {
      const record = await updateRequest(context, move);
      if (isDone(record)) return record;
      throw unexpectedAnswer(what, 'record of it');
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      const late = error.code === 'CONFLICT' && (isAnswerLost || readBack === 'always') ? await readDone() : undefined;
      if (late !== undefined) return late;
      isAnswerLost ||= error.mayHaveHappened;
      throw error;
    }
  }
  const canRepeat = (error: GatewayError) => isAnswerLost && isTransient(error);
  return await withRetries(transport, { what, signal, canRepeat }, attempt);
}
