import type { SignedOperationBody, StorageOperation } from '@prism-gateway/protocol';
import { isGatewayError } from '../errors/gatewayError.ts';
import { unexpectedAnswer } from '../errors/unexpectedAnswer.ts';
import type { Transport } from '../http/createTransport.ts';
import { type Bytes, fetchOnce, type HttpResponse } from '../http/fetchOnce.ts';
import { isTransient, withRetries } from '../http/withRetries.ts';

/** How an access token is got: of the identity provider that the gateway is set to. */
export type GetAccessToken = (options: {
  /** True after the gateway has refused the last one. */
  readonly refresh: boolean;
  readonly signal?: AbortSignal | undefined;
}) => string | Promise<string>;

/** What calls on objects are made with. */
export interface ObjectContext {
  readonly transport: Transport;
  readonly getAccessToken: GetAccessToken;
  /** `0x` and 32 hex digits: 16 bytes. */
  readonly projectId: string;
  /** Longest time for one upload or download, in milliseconds. */
  readonly objectTimeoutMs: number;
  readonly declareSize?: boolean | undefined;
}

/** One operation on one object. */
export interface ObjectOrder {
  readonly operation: StorageOperation;
  /** `0x` and 64 hex digits: SHA-256 of the stored bytes. */
  readonly key: string;
  /** The object, for a put. */
  readonly object?: Bytes;
  readonly signal?: AbortSignal | undefined;
}

/** Gets a presigned URL, with a fresh token where the gateway refuses the one at hand. */
async function signOperation(
  context: ObjectContext,
  order: ObjectOrder,
  refresh = false,
): Promise<Pick<SignedOperationBody, 'url' | 'method' | 'headers'>> {
  const { transport, projectId } = context;
  const { operation, key, object, signal } = order;
  const token = await context.getAccessToken({ refresh, signal });
  const makeHeaders = async () => ({ authorization: `Bearer ${token}` });
  const body = { projectId, key, operation, size: context.declareSize ? object?.byteLength : undefined };
  try {
    // A signature is only an offer: to make two does nothing.
    const call = { method: 'POST', path: '/storage/sign', body, makeHeaders, repeat: 'freely', signal } as const;
    // Read with care until it has shown what it is.
    const answer: SignedOperationBody = Object(await transport.call(call));
    const { url, method, headers } = answer;
    if (URL.canParse(url) && typeof method === 'string' && Object(headers) === headers) return answer;
  } catch (error) {
    if (!refresh && isGatewayError(error, 'UNAUTHORISED')) return await signOperation(context, order, true);
    throw error;
  }
  throw unexpectedAnswer('POST /storage/sign', 'signed operation');
}

/**
 * Does one operation on one object: has it signed, and calls the presigned URL with the headers that belong to it. All four may
 * be repeated freely; each attempt is signed anew, since a URL lives for a minute or so.
 *
 * @throws GatewayError NOT_FOUND, UNAUTHORISED, FORBIDDEN, BODY_TOO_LARGE, and what any call may throw
 * @see docs/specification.md SIGN-1
 */
export function performOperation(context: ObjectContext, order: ObjectOrder): Promise<HttpResponse> {
  const { transport, objectTimeoutMs: timeoutMs } = context;
  const { operation, key, object: body, signal } = order;
  const what = `${operation} of object ${key}`;
  // It is there already, and a key names one content only.
  const accept = operation === 'put' ? 412 : undefined;
  return withRetries(transport, { what, signal, canRepeat: isTransient }, async () => {
    const { url, method, headers } = await signOperation(context, order);
    return await fetchOnce(transport, { what, url, method, headers, body, timeoutMs, accept, signal });
  });
}
