const REFUSALS = {
  OBJECT_URL_REFUSED: [
    403,
    'The URL, its method or a signed header is not as it was signed; ask for a new presigned URL.',
  ],
  OBJECT_URL_EXPIRED: [403, 'The presigned URL has expired; ask for a new one.'],
  OBJECT_HEADER_NOT_SIGNED: [403, 'A header beginning with x-amz- was sent that the URL was not signed with.'],
  OBJECT_NOT_BOUND: [403, 'The presigned URL is not bound to a content; ask for a new one.'],
  OBJECT_NOT_FOUND: [404, 'There is no such object.'],
  OBJECT_METHOD_NOT_ALLOWED: [405, 'Objects know the methods GET, PUT, HEAD and DELETE.'],
  OBJECT_EXISTS: [412, 'The object exists already and is not overwritten.'],
  OBJECT_PRECONDITION_FAILED: [412, 'The object is not in the state that the request asks for.'],
  OBJECT_CONTENT_MISMATCH: [400, 'The content does not hash to the signed SHA-256; nothing was stored.'],
  OBJECT_UPLOAD_INCOMPLETE: [400, 'The upload ended before its end; nothing was stored.'],
  OBJECT_TOO_SLOW: [408, 'The upload came too slowly; nothing was stored.'],
  OBJECT_UPLOAD_UNDER_WAY: [409, 'An upload by this URL is under way; nothing was stored by this one.'],
  OBJECT_QUOTA_EXCEEDED: [413, 'Your objects would take more space than one user may have; nothing was stored.'],
  OBJECT_NO_SPACE: [503, 'The store has no room for new objects at the moment; nothing was stored.'],
  OBJECT_CONDITION_UNKNOWN: [400, 'The only If-None-Match of a put is *; nothing was stored.'],
  OBJECT_TOO_LARGE: [413, 'The object is larger than this store allows; nothing was stored.'],
  OBJECT_RANGE_UNSATISFIABLE: [416, 'The object does not reach as far as the range asked for.'],
} as const satisfies Record<string, readonly [status: number, sentence: string]>;

export type ObjectRefusalCode = keyof typeof REFUSALS;

/** A call to a local object was refused; `message` is a sentence fit for the caller. */
export class ObjectRefusedError extends Error {
  override readonly name = 'ObjectRefusedError';
  readonly code: ObjectRefusalCode;
  /** HTTP status of the answer. */
  readonly status: number;
  /** Headers that the answer has to have, lower-case names. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ObjectRefusalCode, options: { cause?: unknown; headers?: Readonly<Record<string, string>> } = {}) {
    const [status, sentence] = REFUSALS[code];
    super(sentence, options);
    this.code = code;
    this.status = status;
    this.headers = options.headers ?? {};
  }
}
