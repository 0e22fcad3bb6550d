import type { RequestHead, RequestRecord, UpdateRequestBody } from '@prism-gateway/protocol';
import { GatewayError, unexpectedAnswer } from '../errors/gatewayError.ts';
import type { OutgoingCall, Transport } from '../http/createTransport.ts';
import { isTransient, withRetries } from '../http/withRetries.ts';
import { type CallOptions, getRequest, readRecord } from '../requests/getRequest.ts';

/** The context of a relayer's calls. */
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
  /** The change asked for; absent: to give the request back. */
  readonly body?: UpdateRequestBody;
  /** Of the claim that is given back. */
  readonly claimedAt?: string | undefined;
}

/**
 * Asks for one move of a request's state, once.
 *
 * @throws GatewayError; with `mayHaveHappened` if the answer was lost
 * @see docs/specification.md CLAIM-4, REPORT-1
 */
async function updateRequest(
  { transport, makeHeaders }: RelayerContext,
  { requestId, body, claimedAt, signal }: Move,
): Promise<RequestRecord> {
  const path = `/requests/${encodeURIComponent(requestId)}`;
  const how = body
    ? ({ method: 'PATCH', path, body } as const)
    : ({ method: 'POST', path: `${path}/release`, body: { claimedAt } } as const);
  const answer = await transport.call({ ...how, makeHeaders, repeat: 'ifUnsent', signal });
  return readRecord(`${how.method} ${how.path}`, answer, requestId);
}

/** Whether a record is under this relayer's claim. */
export function isOwnClaim({ address }: RelayerContext, record: RequestHead): boolean {
  return record.claimedBy?.toLowerCase() === address.toLowerCase();
}

/** Whether a record is claimed, by this relayer. */
export function isClaimed(context: RelayerContext, record: RequestHead): boolean {
  return record.status === 'processing' && isOwnClaim(context, record);
}

/** How a move is known to have been made. */
export interface MoveRules {
  /** Whether the record shows that this move has been made, by this relayer. */
  readonly isDone: (record: RequestRecord) => boolean;
  /** `always`: a conflict is looked into even if no answer was lost, since the call may repeat one of an earlier process. */
  readonly readBack: 'always' | 'afterLostAnswer';
}

/**
 * Moves a request's state, and if an answer was lost reads the request back before it asks again: a move that was made is
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
      const late = error.kind === 'CONFLICT' && (isAnswerLost || readBack === 'always') ? await readDone() : undefined;
      if (late !== undefined) return late;
      isAnswerLost ||= error.mayHaveHappened;
      throw error;
    }
  }
  const canRepeat = (error: GatewayError) => isAnswerLost && isTransient(error);
  return await withRetries(transport, { what, signal, canRepeat }, attempt);
}

/**
 * Claims a request: of any number of rivals one wins. Where the answer was lost, the request is read back: claimed by this
 * relayer is won.
 *
 * @returns the record, `processing`
 * @throws GatewayError CONFLICT when another was first, or it is claimed already; NOT_FOUND, UNAUTHORISED
 * @see docs/specification.md CLAIM-1
 */
export function claimRequest(
  context: RelayerContext,
  { requestId, signal }: { readonly requestId: string } & CallOptions,
): Promise<RequestRecord> {
  const isDone = (record: RequestRecord) => isClaimed(context, record);
  const move = { requestId, body: { status: 'processing' }, signal } as const;
  return moveRequest(context, { move, isDone, readBack: 'afterLostAnswer' });
}

/**
 * Gives a claimed request back, so that another relayer may take it at once. Where the answer was lost, the request is read back:
 * no longer under this relayer's claim is given back.
 *
 * @returns the record, `pending`; or as it is by now, if the answer was lost
 * @throws GatewayError CONFLICT when this relayer does not hold it; NOT_FOUND, UNAUTHORISED
 */
export async function releaseRequest(
  context: RelayerContext,
  { requestId, signal }: { readonly requestId: string } & CallOptions,
): Promise<RequestRecord> {
  const isDone = (record: RequestRecord) => !isOwnClaim(context, record);
  // Bound to its claim, the call gives back no later one, whoever sends it again.
  const { claimedAt } = await getRequest(context.transport, { requestId, signal });
  return await moveRequest(context, { move: { requestId, claimedAt, signal }, isDone, readBack: 'afterLostAnswer' });
}

/** How a request ended. */
export type Outcome = Exclude<UpdateRequestBody, { readonly status: 'processing' }>;

/** Whether a record shows an outcome. */
export function saysSame(record: RequestHead, outcome: Outcome): boolean {
  if (outcome.status === 'failed') return record.status === 'failed' && record.errorMessage === outcome.errorMessage;
  return record.status === 'success' && record.txHash?.toLowerCase() === outcome.txHash.toLowerCase();
}

/**
 * Reports how a claimed request ended. To report the same again, after a lost answer or a restart, is a success.
 *
 * @returns the record, `success` or `failed`
 * @throws GatewayError CONFLICT when the claim is another's, or another outcome was reported; NOT_FOUND, UNAUTHORISED
 * @see docs/specification.md REPORT-1, REPORT-2
 */
export function reportRequest(
  context: RelayerContext,
  { requestId, outcome, signal }: { readonly requestId: string; readonly outcome: Outcome } & CallOptions,
): Promise<RequestRecord> {
  const isDone = (record: RequestRecord) => isOwnClaim(context, record) && saysSame(record, outcome);
  return moveRequest(context, { move: { requestId, body: outcome, signal }, isDone, readBack: 'always' });
}
