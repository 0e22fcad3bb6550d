import type { SignedOperationBody, StorageOperation } from '@prism-gateway/protocol';
import { errorFromAnswer } from '../errors/fromAnswer.ts';
import { errorFromFailure } from '../errors/fromFailure.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { limitAttempt, type Transport } from '../http/transport.ts';
import { isTransient, withRetries } from '../http/withRetries.ts';
import type { Bytes } from './encryption.ts';

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

/** What an object store answered; the body has been read whole. */
export interface ObjectAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Bytes;
}

async function askSignature(context: ObjectContext, order: ObjectOrder, refresh: boolean): Promise<unknown> {
  const { transport, projectId } = context;
  const { operation, key, signal } = order;
  const token = await context.getAccessToken({ refresh, signal });
  const makeHeaders = async () => ({ authorization: `Bearer ${token}` });
  const body = { projectId, key, operation };
  // A signature is only an offer: to make two does nothing.
  return await transport.call({ method: 'POST', path: '/storage/sign', body, makeHeaders, repeat: 'freely', signal });
}

/** Gets a presigned URL, with a fresh token where the gateway refuses the one at hand. */
async function signOperation(context: ObjectContext, order: ObjectOrder): Promise<SignedOperationBody> {
  const answer = await askSignature(context, order, false).catch((error: unknown) => {
    if (error instanceof GatewayError && error.code === 'UNAUTHORISED') return askSignature(context, order, true);
    throw error;
  });
  // The wire contract's type: a URL, a method and headers, which fetch checks by using them.
  return answer as SignedOperationBody;
}

async function callObject(context: ObjectContext, order: ObjectOrder): Promise<ObjectAnswer> {
  const { url, method, headers } = await signOperation(context, order);
  const { transport, objectTimeoutMs } = context;
  const { operation, key, object, signal } = order;
  // The URL holds a signature, and enters no message.
  const what = `${operation} of object ${key}`;
  try {
    const response = await transport.fetch(url, {
      method,
      headers,
      ...(object !== undefined && { body: object }),
      signal: limitAttempt(objectTimeoutMs, signal),
      redirect: 'error',
      credentials: 'omit',
    });
    const body = new Uint8Array(await response.arrayBuffer());
    // 412: it is there already, and a key names one content only.
    if (response.ok || (operation === 'put' && response.status === 412)) {
      return { status: response.status, headers: response.headers, body };
    }
    const text = new TextDecoder().decode(body);
    throw errorFromAnswer({ what, response, text, nowMs: transport.now() });
  } catch (failure) {
    throw errorFromFailure(failure, { what, signal });
  }
}

/**
 * Does one operation on one object: has it signed, and calls the presigned URL with the headers that belong to it. All four may
 * be repeated freely; each attempt is signed anew, since a URL lives for a minute or so.
 *
 * @throws GatewayError NOT_FOUND, UNAUTHORISED, FORBIDDEN, BODY_TOO_LARGE, and what any call may throw
 * @see SPEC.md section 4, "Managed storage"
 */
export function performOperation(context: ObjectContext, order: ObjectOrder): Promise<ObjectAnswer> {
  const { policy, random } = context.transport;
  const { operation, key, signal } = order;
  const what = `${operation} of object ${key}`;
  return withRetries({ policy, random, what, signal, canRepeat: isTransient }, () => callObject(context, order));
}
