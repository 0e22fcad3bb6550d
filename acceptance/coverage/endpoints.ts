import type { RuleCase } from './ruleCase.ts';

const unprovoked = 'no input brings it about: what is thrown is turned into a 500 beside the code that does it';
const storeDown = "the store's outage cannot be brought about from outside; the drivers' tests do";

const asForUpdate = 'the same code answers it as for PATCH, where it is shown';

/** Every endpoint, with every status that it answers. */
export const ENDPOINT_CASES = [
  { id: 'signStorage.200', rule: 'SIGN-1', says: 'POST /storage/sign answers url, method, headers and expiresAt' },
  { id: 'signStorage.400', rule: 'ERROR-5', says: 'POST /storage/sign: validation' },
  { id: 'signStorage.401', rule: 'ERROR-6', says: 'POST /storage/sign: missing, expired or revoked token' },
  { id: 'signStorage.413', rule: 'ERROR-10', says: 'POST /storage/sign: body over MAX_BODY_BYTES' },
  { id: 'signStorage.415', rule: 'ERROR-11', says: 'POST /storage/sign: a body that is not JSON by its content type' },
  { id: 'signStorage.429', rule: 'ERROR-12', says: 'POST /storage/sign: over RATE_LIMIT_SIGN' },
  {
    id: 'signStorage.500',
    rule: 'ERROR-13',
    says: 'POST /storage/sign: unexpected server error',
    elsewhere: unprovoked,
  },
  { id: 'signStorage.503', rule: 'ERROR-14', says: 'POST /storage/sign: the identity provider does not answer' },

  { id: 'createRequest.201', rule: 'CREATE-1', says: 'POST /requests answers the request record, pending' },
  { id: 'createRequest.400', rule: 'ERROR-5', says: 'POST /requests: validation' },
  { id: 'createRequest.413', rule: 'ERROR-10', says: 'POST /requests: body over MAX_BODY_BYTES' },
  { id: 'createRequest.415', rule: 'ERROR-11', says: 'POST /requests: a body that is not JSON by its content type' },
  { id: 'createRequest.429', rule: 'ERROR-12', says: 'POST /requests: over RATE_LIMIT_WRITES' },
  { id: 'createRequest.500', rule: 'ERROR-13', says: 'POST /requests: unexpected server error', elsewhere: unprovoked },
  {
    id: 'createRequest.503',
    rule: 'ERROR-14',
    says: 'POST /requests: the store does not answer',
    elsewhere: storeDown,
  },

  { id: 'listRequests.200', rule: 'LIST-5', says: 'GET /requests answers { items, count, lastKey }' },
  { id: 'listRequests.400', rule: 'ERROR-5', says: 'GET /requests: validation, or no filter' },
  { id: 'listRequests.401', rule: 'ERROR-6', says: 'GET /requests: status or chainName without relayer auth' },
  { id: 'listRequests.429', rule: 'ERROR-12', says: 'GET /requests: over RATE_LIMIT_READS' },
  { id: 'listRequests.500', rule: 'ERROR-13', says: 'GET /requests: unexpected server error', elsewhere: unprovoked },
  { id: 'listRequests.503', rule: 'ERROR-14', says: 'GET /requests: the store does not answer', elsewhere: storeDown },

  { id: 'readRequest.200', rule: 'READ-1', says: 'GET /requests/{requestId} answers the full record' },
  { id: 'readRequest.400', rule: 'ERROR-5', says: 'GET /requests/{requestId}: not a UUID' },
  { id: 'readRequest.404', rule: 'READ-1', says: 'GET /requests/{requestId}: unknown request' },
  { id: 'readRequest.429', rule: 'ERROR-12', says: 'GET /requests/{requestId}: over RATE_LIMIT_READS' },
  {
    id: 'readRequest.500',
    rule: 'ERROR-13',
    says: 'GET /requests/{requestId}: unexpected error',
    elsewhere: unprovoked,
  },
  { id: 'readRequest.503', rule: 'ERROR-14', says: 'GET /requests/{requestId}: store silent', elsewhere: storeDown },

  { id: 'updateRequest.200', rule: 'CLAIM-4', says: '200 with the whole record' },
  { id: 'updateRequest.400', rule: 'ERROR-5', says: 'PATCH /requests/{requestId}: validation' },
  { id: 'updateRequest.401', rule: 'ERROR-6', says: 'PATCH /requests/{requestId}: relayer authentication failed' },
  { id: 'updateRequest.404', rule: 'CLAIM-4', says: 'PATCH /requests/{requestId}: unknown request' },
  { id: 'updateRequest.409', rule: 'ERROR-9', says: 'PATCH: already claimed or invalid transition' },
  { id: 'updateRequest.413', rule: 'ERROR-10', says: 'PATCH: body over MAX_BODY_BYTES' },
  { id: 'updateRequest.415', rule: 'ERROR-11', says: 'PATCH: a body that is not JSON by its content type' },
  { id: 'updateRequest.429', rule: 'ERROR-12', says: 'PATCH: over RATE_LIMIT_WRITES' },
  { id: 'updateRequest.500', rule: 'ERROR-13', says: 'PATCH: unexpected server error', elsewhere: unprovoked },
  { id: 'updateRequest.503', rule: 'ERROR-14', says: 'PATCH: the store does not answer', elsewhere: storeDown },

  { id: 'claimRequests.200', rule: 'BATCH-1', says: 'POST /requests/claims: answers items, count and conflicts' },
  { id: 'claimRequests.400', rule: 'ERROR-5', says: 'POST /requests/claims: validation' },
  { id: 'claimRequests.401', rule: 'ERROR-6', says: 'POST /requests/claims: relayer authentication failed' },
  {
    id: 'claimRequests.413',
    rule: 'ERROR-10',
    says: 'POST /requests/claims: body over MAX_BODY_BYTES',
    elsewhere: asForUpdate,
  },
  {
    id: 'claimRequests.415',
    rule: 'ERROR-11',
    says: 'POST /requests/claims: a body that is not JSON by its content type',
    elsewhere: asForUpdate,
  },
  {
    id: 'claimRequests.429',
    rule: 'ERROR-12',
    says: 'POST /requests/claims: over RATE_LIMIT_WRITES',
    elsewhere: asForUpdate,
  },
  {
    id: 'claimRequests.500',
    rule: 'ERROR-13',
    says: 'POST /requests/claims: unexpected server error',
    elsewhere: unprovoked,
  },
  {
    id: 'claimRequests.503',
    rule: 'ERROR-14',
    says: 'POST /requests/claims: the store does not answer',
    elsewhere: storeDown,
  },

  { id: 'reportRequests.200', rule: 'BATCH-2', says: 'POST /requests/reports: answers items, count and conflicts' },
  { id: 'reportRequests.400', rule: 'ERROR-5', says: 'POST /requests/reports: validation' },
  { id: 'reportRequests.401', rule: 'ERROR-6', says: 'POST /requests/reports: relayer authentication failed' },
  {
    id: 'reportRequests.413',
    rule: 'ERROR-10',
    says: 'POST /requests/reports: body over MAX_BODY_BYTES',
    elsewhere: asForUpdate,
  },
  {
    id: 'reportRequests.415',
    rule: 'ERROR-11',
    says: 'POST /requests/reports: a body that is not JSON by its content type',
    elsewhere: asForUpdate,
  },
  {
    id: 'reportRequests.429',
    rule: 'ERROR-12',
    says: 'POST /requests/reports: over RATE_LIMIT_WRITES',
    elsewhere: asForUpdate,
  },
  {
    id: 'reportRequests.500',
    rule: 'ERROR-13',
    says: 'POST /requests/reports: unexpected server error',
    elsewhere: unprovoked,
  },
  {
    id: 'reportRequests.503',
    rule: 'ERROR-14',
    says: 'POST /requests/reports: the store does not answer',
    elsewhere: storeDown,
  },

  { id: 'releaseRequest.200', rule: 'RELEASE-1', says: 'POST /requests/{requestId}/release: answers the whole record' },
  { id: 'releaseRequest.400', rule: 'ERROR-5', says: 'POST /requests/{requestId}/release: validation' },
  {
    id: 'releaseRequest.401',
    rule: 'ERROR-6',
    says: 'POST /requests/{requestId}/release: relayer authentication failed',
  },
  { id: 'releaseRequest.404', rule: 'RELEASE-1', says: 'POST /requests/{requestId}/release: unknown request' },
  { id: 'releaseRequest.409', rule: 'ERROR-9', says: 'POST /requests/{requestId}/release: not held by the relayer' },
  {
    id: 'releaseRequest.429',
    rule: 'ERROR-12',
    says: 'POST /requests/{requestId}/release: over RATE_LIMIT_WRITES',
    elsewhere: asForUpdate,
  },
  {
    id: 'releaseRequest.500',
    rule: 'ERROR-13',
    says: 'POST /requests/{requestId}/release: unexpected server error',
    elsewhere: unprovoked,
  },
  {
    id: 'releaseRequest.503',
    rule: 'ERROR-14',
    says: 'POST /requests/{requestId}/release: the store does not answer',
    elsewhere: storeDown,
  },

  { id: 'addRelayer.201', rule: 'WHITELIST-1', says: 'POST /admin/relayers answers the created record' },
  { id: 'addRelayer.400', rule: 'ERROR-5', says: 'POST /admin/relayers: validation' },
  { id: 'addRelayer.401', rule: 'ERROR-6', says: 'POST /admin/relayers: missing or wrong admin key' },
  { id: 'addRelayer.413', rule: 'ERROR-10', says: 'POST /admin/relayers: body over MAX_BODY_BYTES' },
  { id: 'addRelayer.415', rule: 'ERROR-11', says: 'POST /admin/relayers: a body that is not JSON by its content type' },
  { id: 'addRelayer.429', rule: 'ERROR-12', says: 'POST /admin/relayers: over a limit' },
  { id: 'addRelayer.500', rule: 'ERROR-13', says: 'POST /admin/relayers: unexpected error', elsewhere: unprovoked },
  { id: 'addRelayer.503', rule: 'ERROR-14', says: 'POST /admin/relayers: the store is silent', elsewhere: storeDown },

  {
    id: 'removeRelayer.200',
    rule: 'WHITELIST-4',
    says: 'DELETE /admin/relayers/{address} answers { message, address }',
  },
  { id: 'removeRelayer.400', rule: 'ERROR-5', says: 'DELETE /admin/relayers/{address}: not an address' },
  { id: 'removeRelayer.401', rule: 'ERROR-6', says: 'DELETE /admin/relayers/{address}: missing or wrong admin key' },
  { id: 'removeRelayer.429', rule: 'ERROR-12', says: 'DELETE /admin/relayers/{address}: over a limit' },
  {
    id: 'removeRelayer.500',
    rule: 'ERROR-13',
    says: 'DELETE /admin/relayers: unexpected error',
    elsewhere: unprovoked,
  },
  {
    id: 'removeRelayer.503',
    rule: 'ERROR-14',
    says: 'DELETE /admin/relayers: the store is silent',
    elsewhere: storeDown,
  },

  { id: 'listRelayers.200', rule: 'WHITELIST-5', says: 'GET /admin/relayers answers { relayers, count }' },
  { id: 'listRelayers.401', rule: 'ERROR-6', says: 'GET /admin/relayers: missing or wrong admin key' },
  { id: 'listRelayers.429', rule: 'ERROR-12', says: 'GET /admin/relayers: over a limit' },
  { id: 'listRelayers.500', rule: 'ERROR-13', says: 'GET /admin/relayers: unexpected error', elsewhere: unprovoked },
  { id: 'listRelayers.503', rule: 'ERROR-14', says: 'GET /admin/relayers: the store is silent', elsewhere: storeDown },

  { id: 'unknown.404', rule: 'ERROR-7', says: '404 unknown route' },
  { id: 'known.405', rule: 'ERROR-8', says: '405 with Allow' },
  {
    id: 'preflight.204',
    rule: 'CORS-3',
    says: 'OPTIONS is among the allowed methods; a preflight is answered',
  },
  { id: 'operations', rule: 'WIRE-11', says: '/health, /ready, /openapi.json and /docs answer' },
] as const satisfies readonly RuleCase[];
