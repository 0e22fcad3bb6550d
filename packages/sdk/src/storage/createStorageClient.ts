import type { SignedOperationBody, StorageOperation } from '@prism-gateway/protocol';
import { isGatewayError, unexpectedAnswer } from '../errors/gatewayError.ts';
import { createTransport, type Transport, type TransportOptions } from '../http/createTransport.ts';
import { type Bytes, fetchOnce, type HttpResponse } from '../http/fetchOnce.ts';
import { isTransient, withRetries } from '../http/withRetries.ts';
import type { GatewayClient } from '../requests/createGatewayClient.ts';
import type { CallOptions } from '../requests/getRequest.ts';
import { decryptObject, type EncryptionKey, encryptObject, importEncryptionKey, StorageError } from './encryption.ts';

/** Options of a storage client. */
export type StorageClientOptions = {
  /** `0x` and 32 hex digits: the project whose objects these are. */
  readonly projectId: string;
  readonly getAccessToken: GetAccessToken;
  /** 32 bytes, or a CryptoKey for AES-GCM; it never leaves this machine. Who loses it loses the objects. */
  readonly encryptionKey: EncryptionKey;
  /** Longest time for one upload or download, in milliseconds; default 300000. */
  readonly objectTimeoutMs?: number | undefined;
  /** True: sends the gateway how long an upload is, for one with `STORAGE_REQUIRE_SIZE`; others may not know the field. */
  readonly declareSize?: boolean | undefined;
} & ({ readonly gateway: GatewayClient } | TransportOptions);

/** An object that is stored. */
export interface StoredObject {
  /** The key to get it by: `0x` and 64 hex digits, the SHA-256 of the stored bytes. */
  readonly key: string;
  /** Stored bytes: 29 more than the content. */
  readonly size: number;
}

/** The store's facts about an object, without its content. */
export interface ObjectHead {
  /** Stored bytes; undefined if the store does not say. */
  readonly size: number | undefined;
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
}

/** Encrypted objects of one project. */
export interface StorageClient {
  /** Encrypts content and stores it. @throws GatewayError */
  put(content: Uint8Array, options?: CallOptions): Promise<StoredObject>;
  /** Gets, verifies and decrypts an object. @throws GatewayError NOT_FOUND; StorageError CONTENT_MISMATCH, DECRYPTION_FAILED */
  get(key: string, options?: CallOptions): Promise<Bytes>;
  /** @returns undefined if there is no such object @throws GatewayError */
  head(key: string, options?: CallOptions): Promise<ObjectHead | undefined>;
  /** Deletes an object; one that is not there is no error. @throws GatewayError */
  delete(key: string, options?: CallOptions): Promise<void>;
}

/** The gateway's own bound for slow uploads. */
const DEFAULT_OBJECT_TIMEOUT_MS = 300_000;

/**
 * Names an object by its content.
 *
 * @param object - as it is stored: encrypted
 * @returns `0x` and 64 lower-case hex digits: its SHA-256
 * @see docs/specification.md SIGN-1
 */
async function hashObject(object: Bytes): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', object));
  return `0x${Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

async function headObject(context: ObjectContext, key: string, signal?: AbortSignal): Promise<ObjectHead | undefined> {
  try {
    const { headers } = await performOperation(context, { operation: 'head', key, signal });
    const size = headers.get('content-length');
    return {
      size: size === null ? undefined : Number(size),
      etag: headers.get('etag') ?? undefined,
      lastModified: headers.get('last-modified') ?? undefined,
    };
  } catch (error) {
    if (isGatewayError(error, 'NOT_FOUND')) return undefined;
    throw error;
  }
}

/**
 * Makes a client of the managed storage. Content is encrypted before it leaves this machine (AES-256-GCM), named by the SHA-256
 * of what is stored, and verified when it comes back.
 *
 * @param options - the gateway, the project, how to get an access token, and the key
 * @see docs/specification.md SIGN-1
 * @example
 * const storage = createStorageClient({ url, projectId, getAccessToken, encryptionKey });
 * const { key } = await storage.put(new TextEncoder().encode('hello'));
 * const content = await storage.get(key);
 */
export function createStorageClient(options: StorageClientOptions): StorageClient {
  const transport = 'gateway' in options ? options.gateway.transport : createTransport(options);
  const context = { ...options, transport, objectTimeoutMs: options.objectTimeoutMs ?? DEFAULT_OBJECT_TIMEOUT_MS };
  // Now: whoever wipes the bytes afterwards must not have wiped the key. A bad one is reported where it is used.
  const imported = importEncryptionKey(options.encryptionKey);
  imported.catch(() => {});
  return {
    async put(content, { signal } = {}) {
      const object = await encryptObject(await imported, content);
      const key = await hashObject(object);
      await performOperation(context, { operation: 'put', key, object, signal });
      return { key, size: object.byteLength };
    },
    async get(key, { signal } = {}) {
      const { body } = await performOperation(context, { operation: 'get', key, signal });
      if ((await hashObject(body)) !== key.toLowerCase()) throw new StorageError('CONTENT_MISMATCH');
      return await decryptObject(await imported, body);
    },
    head: (key, { signal } = {}) => headObject(context, key, signal),
    async delete(key, { signal } = {}) {
      await performOperation(context, { operation: 'delete', key, signal });
    },
  };
}

/** How an access token is got: of the identity provider that the gateway is set to. */
export type GetAccessToken = (options: {
  /** True after the gateway has refused the last one. */
  readonly refresh: boolean;
  readonly signal?: AbortSignal | undefined;
}) => string | Promise<string>;

/** The context of calls on objects. */
interface ObjectContext {
  readonly transport: Transport;
  readonly getAccessToken: GetAccessToken;
  /** `0x` and 32 hex digits: 16 bytes. */
  readonly projectId: string;
  /** Longest time for one upload or download, in milliseconds. */
  readonly objectTimeoutMs: number;
  readonly declareSize?: boolean | undefined;
}

/** One operation on one object. */
interface ObjectOrder {
  readonly operation: StorageOperation;
  /** `0x` and 64 hex digits: SHA-256 of the stored bytes. */
  readonly key: string;
  /** The object, for a put. */
  readonly object?: Bytes;
  readonly signal?: AbortSignal | undefined;
}

/** Gets a presigned URL, with a fresh token if the gateway refuses the one at hand. */
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
function performOperation(context: ObjectContext, order: ObjectOrder): Promise<HttpResponse> {
  const { transport, objectTimeoutMs: timeoutMs } = context;
  const { operation, key, object: body, signal } = order;
  const what = `${operation} of object ${key}`;
  // It is there already, and a key names one content only.
  const accept = operation === 'put' ? 412 : undefined;
  return withRetries(transport, { what, signal, canRepeat: isTransient }, async () => {
    const { url, method, headers } = await signOperation(context, order);
    return await fetchOnce(transport, { what, url, method, headers, body, timeoutMs, accept, isObject: true, signal });
  });
}
