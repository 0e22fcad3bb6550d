import type { Rule } from './rule.ts';

const sign = 'SPEC.md section 4, "POST /storage/sign"';
const token = 'SPEC.md section 5; DECISIONS.md, "Token times", "Revoked token"';
const put = 'DECISIONS.md, "Signed `put`"';
const local = 'DECISIONS.md, "Local objects"';
const life = 'DECISIONS.md, "Lifetime"';

/** Rules of managed storage. */
export const STORAGE_RULES = [
  { id: 'sign.strict', from: sign, says: 'validation is strict; callers cannot supply a bucket or object path' },
  { id: 'sign.method', from: sign, says: 'method is that of the operation: PUT, GET, HEAD, DELETE' },
  {
    id: 'sign.path',
    from: 'DECISIONS.md, "Object path"',
    says: 'v1/{64 hex}/{projectId}/{key}, lower case, without 0x',
  },
  { id: 'sign.tenants', from: sign, says: 'the path is derived from the user: two users never share an object' },
  { id: 'sign.token', from: token, says: 'a missing, malformed, forged or expired token is 401' },
  { id: 'sign.revoked', from: token, says: 'a revoked token is 401, at most 15 s later' },
  { id: 'sign.providerDown', from: token, says: 'provider unreachable: 503, never open' },
  { id: 'sign.lifetime', from: life, says: 'expiresAt: the lifetime, in whole seconds, from the signing second' },
  { id: 'sign.tokenExpiry', from: life, says: "never later than the access token's own expiry, even under 30 s" },
  { id: 'sign.lifetimeSetting', from: 'SPEC.md section 8', says: 'STORAGE_SIGNED_URL_TTL_SECONDS, 30 to 300' },
  { id: 'object.roundTrip', from: sign, says: 'what was put is read back; delete removes it' },
  { id: 'object.bound', from: put, says: 'put binds x-amz-checksum-sha256 and if-none-match, both in headers' },
  { id: 'object.once', from: put, says: 'a second put of the same object: 412' },
  { id: 'object.mismatch', from: put, says: 'content that does not hash to key: 400, and nothing is stored' },
  { id: 'object.unbound', from: put, says: 'STORAGE_BIND_CONTENT=false turns both off' },
  { id: 'object.signedHeaders', from: put, says: 'a put without its signed headers: 403' },
  { id: 'object.wrongMethod', from: local, says: 'another method than the signed one: 403' },
  { id: 'object.altered', from: local, says: 'an altered URL: 403' },
  { id: 'object.expired', from: local, says: 'an expired URL: 403' },
  { id: 'object.missing', from: local, says: 'get and head of an object that is not there: 404' },
  { id: 'object.download', from: 'DECISIONS.md, "`get`"', says: 'an attachment of type application/octet-stream' },
  { id: 'object.errors', from: local, says: "errors in the API's shape" },
  { id: 'object.cors', from: 'DECISIONS.md, "CORS"', says: 'GET, PUT, HEAD, DELETE, any header, STORAGE_CORS_ORIGINS' },
  { id: 'object.tooLarge', from: local, says: '413 over MAX_OBJECT_BYTES' },
  { id: 'object.largerThanBody', from: local, says: 'MAX_BODY_BYTES does not apply' },
  { id: 'object.empty', from: put, says: 'an object of no bytes is an object' },
  { id: 'settings.batch', from: 'DECISIONS.md, "Settings"', says: 'MAX_BATCH_SIZE and MAX_BODY_BYTES are what is set' },
  { id: 'settings.prodIssuer', from: 'DECISIONS.md, "Settings"', says: 'no development issuer in prod' },
  { id: 'settings.faults', from: 'DECISIONS.md, "Settings"', says: 'every fault at once, and no secret printed' },
] as const satisfies readonly Rule[];
