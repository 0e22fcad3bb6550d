/**
 * Every `code` of a failing answer, with its status and its meaning: the one list that the service, its documents and the SDK's errors
 * come from. A code keeps its meaning for good; new ones may come.
 *
 * @see docs/specification.md ERROR-16
 */
export const ERROR_CODES = {
  VALIDATION_FAILED: [400, 'the input is wrong: `details` names each fault'],
  BODY_INCOMPLETE: [400, 'the body ended early or was malformed'],
  REQUEST_MALFORMED: [400, 'this is no HTTP request that can be read'],
  OBJECT_CONTENT_MISMATCH: [400, 'the content does not hash to the signed SHA-256'],
  OBJECT_UPLOAD_INCOMPLETE: [400, 'the upload ended before its end'],
  OBJECT_CONDITION_UNKNOWN: [400, 'the only `If-None-Match` of a put is `*`'],
  RELAYER_TIMESTAMP_REJECTED: [401, "the relayer's timestamp is missing, malformed or more than 5 minutes off"],
  RELAYER_SIGNATURE_REJECTED: [401, "the relayer's signature is missing or not over this call"],
  RELAYER_WHITELIST_REJECTED: [401, 'the relayer is not on the whitelist'],
  RELAYER_SUSPENDED: [401, 'the relayer is suspended'],
  TOKEN_REJECTED: [401, 'the access token is missing, malformed, forged, expired, too old or revoked'],
  ADMIN_KEY_REJECTED: [401, "the administrator's key is missing or wrong"],
  CLIENT_REJECTED: [401, "the development issuer does not know the caller's app id and secret"],
  ADMIN_KEY_READS_ONLY: [403, 'the key is for reading'],
  NOT_LOCAL: [403, 'this is answered to this machine and private networks alone'],
  NOT_THE_PUBLIC_ADDRESS: [403, 'call the public address, not that of the function behind it'],
  OBJECT_URL_REFUSED: [403, 'the presigned URL, its method or a signed header is not as it was signed'],
  OBJECT_URL_EXPIRED: [403, 'the presigned URL has expired'],
  OBJECT_HEADER_NOT_SIGNED: [403, 'an `x-amz-` header was sent that the presigned URL was not signed with'],
  OBJECT_NOT_BOUND: [403, 'the presigned URL is not bound to a content'],
  ROUTE_NOT_FOUND: [404, 'there is no such route'],
  REQUEST_NOT_FOUND: [404, 'there is no such request'],
  RELAYER_NOT_FOUND: [404, 'the address is not on the whitelist'],
  WEBHOOK_NOT_FOUND: [404, 'there is no such webhook'],
  DELIVERY_NOT_FOUND: [404, 'there is no such delivery'],
  OBJECT_NOT_FOUND: [404, 'there is no such object'],
  METHOD_NOT_ALLOWED: [405, 'the route does not take this method: `Allow` lists those that it takes'],
  REQUEST_TOO_SLOW: [408, 'the call took too long to arrive'],
  OBJECT_TOO_SLOW: [408, 'the upload came too slowly'],
  REQUEST_ALREADY_CLAIMED: [409, 'the request is not pending'],
  CLAIMED_TOO_LONG: [409, 'this relayer has held the request as long as it may'],
  TOO_MANY_OPEN_CLAIMS: [409, 'this relayer holds as many requests as it may'],
  REQUEST_NOT_CLAIMED: [409, 'the request is not under a claim'],
  CLAIM_NOT_OWNED: [409, 'another relayer holds the claim, or it is a later claim than the one named'],
  REQUEST_NOT_REOPENABLE: [409, 'no suspended relayer has reported the request failed'],
  REQUEST_HELD: [409, 'a relayer may be submitting the request'],
  WEBHOOKS_FULL: [409, 'there are as many webhooks as there may be'],
  WEBHOOKS_UNDELIVERED: [409, 'nothing here would deliver'],
  DELIVERY_WAITING: [409, 'the delivery waits to be sent already'],
  OBJECT_UPLOAD_UNDER_WAY: [409, 'an upload by this presigned URL is under way'],
  OBJECT_EXISTS: [412, 'the object exists and is not overwritten'],
  OBJECT_PRECONDITION_FAILED: [412, 'the object is not in the state that was asked for'],
  BODY_TOO_LARGE: [413, 'the body is too large'],
  OBJECT_TOO_LARGE: [413, 'the object is larger than this store allows'],
  OBJECT_QUOTA_EXCEEDED: [413, "the user's objects would take more space than one user may have"],
  UNSUPPORTED_MEDIA_TYPE: [415, 'the body is not JSON by its content type, or is encoded'],
  OBJECT_RANGE_UNSATISFIABLE: [416, 'the object does not reach as far as the range'],
  EXPECTATION_FAILED: [417, 'the only `Expect` is `100-continue`'],
  RATE_LIMITED: [429, 'too many calls: `Retry-After` gives the seconds to wait'],
  TOO_MANY_CALLS: [429, 'too many calls of this client are under way'],
  TOO_MANY_WAITS: [429, 'too many calls of this client wait'],
  HEADERS_TOO_LARGE: [431, 'the headers are too large or too many'],
  UNEXPECTED: [500, 'something went wrong inside: the log has it under the `X-Request-Id`'],
  DEPENDENCY_UNAVAILABLE: [503, 'the store or the identity provider did not answer'],
  OVERLOADED: [503, 'too many calls are under way'],
  NO_SPACE: [503, 'the store has no room for new requests'],
  OBJECT_NO_SPACE: [503, 'the store has no room for new objects'],
} as const satisfies Record<string, readonly [status: number, meaning: string]>;

export type ErrorCode = keyof typeof ERROR_CODES;

/**
 * The kind of a failing answer for a client, by its status: a gateway that knows the specification alone gives no code. Any status from 500
 * on is `UNAVAILABLE`.
 */
export const ERROR_KINDS = {
  400: 'VALIDATION_FAILED',
  401: 'UNAUTHORISED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  409: 'CONFLICT',
  413: 'BODY_TOO_LARGE',
  429: 'RATE_LIMITED',
} as const;

/**
 * Why an entry of a batch was left as it stands.
 *
 * @see docs/specification.md BATCH-4
 */
export const CONFLICT_REASONS = {
  unknown: 'there is no such request',
  unclaimed: 'it is pending, and was reported on',
  claimed: 'another relayer holds it, or this one held it until its lease lapsed',
  ended: 'it is `success` or `failed`',
  'at-your-limit': 'this relayer holds as many requests as it may',
  'held-too-long': 'this relayer has held it as long as it may',
} as const;

export type ConflictReason = keyof typeof CONFLICT_REASONS;
