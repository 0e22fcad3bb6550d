import type { ErrorCode } from '@prism-gateway/protocol';

/** A sentence a code. */
const REFUSALS = {
  OBJECT_URL_REFUSED: 'The URL, its method or a signed header is not as it was signed; ask for a new presigned URL.',
  OBJECT_URL_EXPIRED: 'The presigned URL has expired; ask for a new one.',
  OBJECT_HEADER_NOT_SIGNED: 'A header beginning with x-amz- was sent that the URL was not signed with.',
  OBJECT_NOT_BOUND: 'The presigned URL is not bound to a content; ask for a new one.',
  OBJECT_NOT_FOUND: 'There is no such object.',
  METHOD_NOT_ALLOWED: 'Objects know the methods GET, PUT, HEAD and DELETE.',
  OBJECT_EXISTS: 'The object exists already and is not overwritten.',
  OBJECT_PRECONDITION_FAILED: 'The object is not in the state that the request asks for.',
  OBJECT_CONTENT_MISMATCH: 'The content does not hash to the signed SHA-256; nothing was stored.',
  OBJECT_UPLOAD_INCOMPLETE: 'The upload ended before its end; nothing was stored.',
  OBJECT_TOO_SLOW: 'The upload came too slowly; nothing was stored.',
  OBJECT_UPLOAD_UNDER_WAY: 'An upload by this URL is under way; nothing was stored by this one.',
  OBJECT_QUOTA_EXCEEDED: 'Your objects would take more space than one user may have; nothing was stored.',
  OBJECT_NO_SPACE: 'The store has no room for new objects at the moment; nothing was stored.',
  OBJECT_CONDITION_UNKNOWN: 'The only If-None-Match of a put is *; nothing was stored.',
  OBJECT_TOO_LARGE: 'The object is larger than this store allows; nothing was stored.',
  OBJECT_RANGE_UNSATISFIABLE: 'The object does not reach as far as the range asked for.',
} as const satisfies Partial<Record<ErrorCode, string>>;

export type ObjectRefusalCode = keyof typeof REFUSALS;

/** A call to a local object was refused; `message` is a sentence fit for the caller. */
export class ObjectRefusedError extends Error {
  override readonly name = 'ObjectRefusedError';
  readonly code: ObjectRefusalCode;
  /** Headers that the answer has to have, lower-case names. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ObjectRefusalCode, options: { cause?: unknown; headers?: Readonly<Record<string, string>> } = {}) {
    super(REFUSALS[code], options);
    this.code = code;
    this.headers = options.headers ?? {};
  }
}
