import type { RuleCase } from './ruleCase.ts';

const noChain = 'no call can show it: the import rules keep every client of a chain out of the gateway';

/** Cases of every call: errors, CORS, JSON, query, order of errors. */
export const WIRE_CASES = [
  { id: 'error.shape', rule: 'ERROR-1', says: 'error is one human-readable sentence on every failing status' },
  { id: 'error.code', rule: 'ERROR-16', says: 'code is one of the table, of the status of the answer' },
  { id: 'error.details', rule: 'ERROR-3', says: 'details: array of { path, message }, path like params.dataIds[2]' },
  { id: 'error.detailsOfValidationOnly', rule: 'ERROR-2', says: 'details comes with validation errors' },
  { id: 'error.everyFault', rule: 'ERROR-4', says: 'every fault is named by its path in one answer' },
  { id: 'cors.everyAnswer', rule: 'CORS-1', says: "the specification's three headers on every answer, exactly" },
  { id: 'cors.expose', rule: 'CORS-2', says: 'Access-Control-Expose-Headers and a Max-Age' },
  { id: 'requestIdHeader', rule: 'WIRE-9', says: 'X-Request-Id on every answer' },
  { id: 'json.everyAnswer', rule: 'SERVICE-4', says: 'All routes return JSON' },

  {
    id: 'order.routeFirst',
    rule: 'ERROR-15',
    says: '404 and 405 win over everything, also without a key or a valid body',
  },
  { id: 'order.preflightBeforeLimit', rule: 'ERROR-15', says: 'a preflight is answered before the rate limit' },
  { id: 'order.limitBeforeSize', rule: 'ERROR-15', says: '429 wins over 413' },
  { id: 'order.sizeBeforeType', rule: 'ERROR-15', says: '413 wins over 415' },
  { id: 'order.typeBeforeAuth', rule: 'ERROR-15', says: '415 wins over 401' },
  { id: 'order.authBeforeValidation', rule: 'ERROR-15', says: '401 wins over 400' },
  { id: 'order.validationBeforeExistence', rule: 'ERROR-15', says: '400 wins over 404' },
  { id: 'order.existenceBeforeState', rule: 'ERROR-15', says: '404 wins over 409: an unknown request has no state' },
  { id: 'order.validationBeforeState', rule: 'ERROR-15', says: '400 wins over 409' },

  {
    id: 'json.unknownFields',
    rule: 'WIRE-5',
    says: '400, at every level, each by its own path',
  },
  { id: 'json.proto', rule: 'WIRE-5', says: '__proto__ is an unknown field too' },
  { id: 'json.utf8', rule: 'WIRE-2', says: 'invalid UTF-8: 400' },
  { id: 'json.bom', rule: 'WIRE-2', says: 'a BOM: 400' },
  { id: 'json.duplicateKey', rule: 'WIRE-3', says: 'a duplicate key: the last one counts' },
  { id: 'json.noContentType', rule: 'WIRE-4', says: 'a body without a content type is read as JSON' },
  { id: 'json.malformed', rule: 'WIRE-1', says: 'no body, no JSON or no object: 400' },
  { id: 'body.contentLength', rule: 'WIRE-10', says: '413 by what content-length says' },
  { id: 'body.chunked', rule: 'WIRE-10', says: '413 by what comes, without content-length' },
  { id: 'body.atLimit', rule: 'WIRE-10', says: 'a body of exactly MAX_BODY_BYTES is taken' },

  { id: 'query.unknown', rule: 'WIRE-6', says: 'unknown parameters are ignored' },
  { id: 'query.empty', rule: 'WIRE-6', says: 'an empty known parameter is 400' },
  { id: 'query.repeated', rule: 'WIRE-6', says: 'a repeated known parameter is 400' },
  { id: 'query.order', rule: 'LIST-6', says: 'an order other than asc and desc is 400' },
  { id: 'text.surrogates', rule: 'WIRE-14', says: 'half of a surrogate pair: 400' },
  { id: 'method.head', rule: 'WIRE-12', says: 'HEAD wherever GET is; relayer auth signs Method: HEAD' },
  { id: 'method.bodyOfGet', rule: 'WIRE-13', says: 'the body of a DELETE is not read' },
  {
    id: 'service.noChain',
    rule: 'SERVICE-1',
    says: 'never submits a transaction, never reads a chain',
    elsewhere: noChain,
  },
  { id: 'header.twice', rule: 'HTTP-4', says: 'of a relayer header that is sent twice, neither counts' },
  { id: 'times', rule: 'WIRE-7', says: 'ISO 8601, UTC, milliseconds, Z' },
] as const satisfies readonly RuleCase[];
