import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { ERROR_CODES, type ErrorCode } from '@prism-gateway/protocol';
import type { Logger } from '../../ports/logger.ts';
import type { ObjectSigner, SignedOperation } from '../../ports/objectSigner.ts';
import { makeBucketHeaders } from './bucketHeaders.ts';
import { createUrlSeal, type PresignedOrder, type UrlSeal } from './createUrlSeal.ts';
import { createUserQuota, type UserQuota } from './createUserQuota.ts';
import { deleteObject } from './deleteObject.ts';
import { type DiskFiles, openDiskFiles } from './diskFiles.ts';
import { ObjectRefusedError } from './objectRefusedError.ts';
import { putObject } from './putObject.ts';
import { type ObjectAnswer, readObject } from './readObject.ts';
import { discardBody, openBody } from './receiveBody.ts';
import { sweepTempFiles } from './tempFiles.ts';

const METHODS = { put: 'PUT', get: 'GET', head: 'HEAD', delete: 'DELETE' } as const;

/** Makes the signer of presigned URLs for local objects; it never fails. */
function createDiskSigner({ publicUrl, seal }: { publicUrl: string; seal: UrlSeal }): ObjectSigner {
  return {
    async sign(order): Promise<SignedOperation> {
      const method = METHODS[order.operation];
      const expiresSeconds = Math.floor(order.nowMs / 1000) + order.lifetimeSeconds;
      const isBound = order.operation === 'put' && order.contentSha256 !== undefined;
      const checksum = isBound ? Buffer.from(order.contentSha256, 'hex').toString('base64') : undefined;
      const bound = checksum === undefined ? undefined : { ifNoneMatch: '*', checksum };
      const size = order.operation === 'put' ? order.size : undefined;
      const query = seal.seal({ method, objectPath: order.objectPath, expiresSeconds, bound, size });
      return {
        url: `${publicUrl}/objects/${order.objectPath}?${query}`,
        method,
        headers: {
          ...(size !== undefined && { 'content-length': String(size) }),
          ...(checksum !== undefined && { 'if-none-match': '*', 'x-amz-checksum-sha256': checksum }),
        },
        expiresAtMs: expiresSeconds * 1000,
      };
    },
  };
}

export interface DiskObjectsOptions {
  /** Directory of the store, on one file system; made if it is not there. */
  readonly directory: string;
  /** Base of the presigned URLs, for example `http://127.0.0.1:8787`. */
  readonly publicUrl: string;
  /** Secret bytes, 32 or more, the same for all processes that share the directory. */
  readonly signingKey: Uint8Array;
  readonly maxObjectBytes: number;
  /** Most bytes of one user's objects; 0: no bound. */
  readonly maxUserBytes: number;
  /** Whether the disk has room for new objects. */
  readonly hasSpace: () => boolean;
  /** Refuse every put whose URL is not bound to its content. */
  readonly bindContent: boolean;
  /** Origins whose pages may use the objects; `*` for any. */
  readonly corsOrigins: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly logger: Logger;
}

/** Objects on this machine's disk: who signs their URLs, and who answers them. */
interface DiskObjects {
  readonly signer: ObjectSigner;
  /** Answers a request whose path begins with `/objects/`; it rejects for defects of this program only. */
  fetch(request: Request): Promise<Response>;
}

/** Seconds after which a client may try again if the disk is full or failing. */
const RETRY_AFTER_SECONDS = 5;
/** The same if the disk is nearly full, which somebody has to see to. */
const RETRY_WITHOUT_SPACE_SECONDS = 60;

/**
 * Opens the local object store, which stands in for S3 on one machine: the same presigned operations with the same
 * outcomes. Several processes may share a directory.
 *
 * @param options directory, signing key, limits and policy
 * @returns signer and server of the objects
 * @throws the file system's own error when the directory cannot be used
 * @see docs/specification.md OBJECT-6
 */
export function createDiskObjects(options: DiskObjectsOptions): DiskObjects {
  const files = openDiskFiles(resolve(options.directory));
  const swept = sweepTempFiles({ directory: files.tempDirectory, nowMs: options.now() });
  if (swept > 0) options.logger.info({ swept }, 'removed unfinished uploads of earlier processes');

  const seal = createUrlSeal(options.signingKey);
  const publicUrl = options.publicUrl.replace(/\/+$/, '');
  const directory = resolve(options.directory);
  const quota = createUserQuota({ directory, maxBytes: options.maxUserBytes, now: options.now });
  /** The orders by which an upload is under way. */
  const uploading = new Set<string>();
  return {
    signer: createDiskSigner({ publicUrl, seal }),
    async fetch(request) {
      const common = makeBucketHeaders(request, options.corsOrigins);
      try {
        if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: common });
        assertMethod(request.method);
        const order = seal.open(request);
        assertInForce(order, request, options);
        const { status, headers, body } = await answerOrder(files, { order, request, options, quota, uploading });
        return new Response(body, { status, headers: { ...common, ...headers } });
      } catch (error) {
        return answerFault(error, { request, common, logger: options.logger });
      }
    },
  };
}

function assertMethod(method: string): void {
  if (['GET', 'PUT', 'HEAD', 'DELETE'].includes(method)) return;
  throw new ObjectRefusedError('METHOD_NOT_ALLOWED', { headers: { allow: 'GET, PUT, HEAD, DELETE, OPTIONS' } });
}

/** Checks what a valid seal does not show. */
function assertInForce(order: PresignedOrder, request: Request, { now, bindContent }: DiskObjectsOptions): void {
  if (now() >= order.expiresSeconds * 1000) throw new ObjectRefusedError('OBJECT_URL_EXPIRED');
  if (bindContent && order.method === 'PUT' && order.bound === undefined)
    throw new ObjectRefusedError('OBJECT_NOT_BOUND');
  if (order.size !== undefined && request.headers.get('content-length') !== String(order.size))
    throw new ObjectRefusedError('OBJECT_URL_REFUSED');
  for (const name of request.headers.keys()) {
    const isSigned = name === 'x-amz-checksum-sha256' && order.bound !== undefined;
    // CloudFront adds its id to what it passes on.
    const isOurs = isSigned || name === 'x-amz-cf-id' || !name.startsWith('x-amz-');
    if (!isOurs) throw new ObjectRefusedError('OBJECT_HEADER_NOT_SIGNED');
  }
}

interface OrderContext {
  readonly order: PresignedOrder;
  readonly request: Request;
  readonly options: DiskObjectsOptions;
  readonly quota: UserQuota;
  readonly uploading: Set<string>;
}

/** Receives an upload, of which there is one at a time by each URL. */
async function answerUpload(files: DiskFiles, context: OrderContext): Promise<ObjectAnswer> {
  const { order, request, options, quota, uploading } = context;
  const { objectPath } = order;
  const condition = request.headers.get('if-none-match');
  if (condition !== null && condition !== '*') throw new ObjectRefusedError('OBJECT_CONDITION_UNKNOWN');
  const url = `${objectPath} ${order.expiresSeconds}`;
  if (uploading.has(url)) throw await refuseSecond(files, context);
  uploading.add(url);
  try {
    assertSpace(options);
    const room = await quota.open(objectPath);
    const takeRoom = (bytes: number) => {
      assertSpace(options);
      room.grow(bytes);
    };
    try {
      const body = openBody(request, { maxBytes: options.maxObjectBytes, takeRoom });
      const onConflict = condition === null ? 'replace' : 'refuse';
      const { etag } = await putObject(files, { objectPath, body, checksum: order.bound?.checksum, onConflict });
      room.keep();
      return { status: 200, headers: { etag, 'content-length': '0' }, body: null };
    } finally {
      room.release();
    }
  } finally {
    uploading.delete(url);
  }
}

/** Refuses an upload beside another by the same URL, once it has come: a client that is still sending would see no answer. */
async function refuseSecond(files: DiskFiles, { order, request, options }: OrderContext): Promise<ObjectRefusedError> {
  await discardBody(openBody(request, { maxBytes: options.maxObjectBytes }));
  const isStored = existsSync(files.findPath(order.objectPath)) && request.headers.has('if-none-match');
  return new ObjectRefusedError(isStored ? 'OBJECT_EXISTS' : 'OBJECT_UPLOAD_UNDER_WAY');
}

function assertSpace({ hasSpace }: DiskObjectsOptions): void {
  if (hasSpace()) return;
  throw new ObjectRefusedError('OBJECT_NO_SPACE', { headers: { 'retry-after': String(RETRY_WITHOUT_SPACE_SECONDS) } });
}

async function answerOrder(files: DiskFiles, context: OrderContext): Promise<ObjectAnswer> {
  const { order, request, quota } = context;
  const { objectPath } = order;
  if (order.method === 'DELETE') {
    const bytes = await deleteObject(files, objectPath);
    if (bytes !== undefined) quota.freed(objectPath, bytes);
    return { status: 204, headers: {}, body: null };
  }
  return order.method === 'PUT' ? answerUpload(files, context) : readObject(files, { objectPath, request });
}

interface FaultContext {
  readonly request: Request;
  readonly common: Readonly<Record<string, string>>;
  readonly logger: Logger;
}

function answerFault(fault: unknown, { request, common, logger }: FaultContext): Response {
  if (fault instanceof ObjectRefusedError) {
    if (fault.code === 'OBJECT_UPLOAD_INCOMPLETE') logger.info({}, 'an upload ended before its end');
    return answerError(request, fault, { ...common, ...fault.headers });
  }
  if (!isFileSystemError(fault)) throw fault;
  logger.error({ code: fault.code, syscall: fault.syscall }, 'the local object store failed');
  const headers = { ...common, 'retry-after': String(RETRY_AFTER_SECONDS) };
  const outage = {
    code: 'DEPENDENCY_UNAVAILABLE',
    message: 'The object store did not answer; try again later.',
  } as const;
  return answerError(request, outage, headers);
}

function answerError(
  { method }: Request,
  { code, message }: { readonly code: ErrorCode; readonly message: string },
  headers: Readonly<Record<string, string>>,
): Response {
  const [status] = ERROR_CODES[code];
  const body = method === 'HEAD' ? null : JSON.stringify({ error: message, code });
  return new Response(body, { status, headers: { ...headers, 'content-type': 'application/json' } });
}

/** Full (`ENOSPC`), failing (`EIO`), read-only, out of handles: all that the operating system reports by a call. */
function isFileSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && 'syscall' in error;
}
