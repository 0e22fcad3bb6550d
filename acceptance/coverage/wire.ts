import type { Rule } from './rule.ts';

const errors = 'SPEC.md section 7; DECISIONS.md, "`error`"';
const cors = 'SPEC.md section 8; DECISIONS.md, "CORS"';
const order = 'DECISIONS.md, "Which error wins"';
const json = 'DECISIONS.md, "Other JSON matters"';

/** Rules of every call: errors, CORS, JSON, query, order of errors. */
export const WIRE_RULES = [
  { id: 'error.shape', from: errors, says: 'error is one human-readable sentence on every failing status' },
  { id: 'error.details', from: errors, says: 'details: array of { path, message }, path like params.dataIds[2]' },
  { id: 'error.detailsOfValidationOnly', from: errors, says: 'details comes with validation errors' },
  { id: 'error.everyFault', from: 'README', says: 'every fault is named by its path in one answer' },
  { id: 'cors.everyAnswer', from: cors, says: "the specification's three headers on every answer, exactly" },
  { id: 'cors.expose', from: cors, says: 'Access-Control-Expose-Headers and a Max-Age' },
  { id: 'requestIdHeader', from: cors, says: 'X-Request-Id on every answer' },
  { id: 'json.everyAnswer', from: 'SPEC.md section 4', says: 'All routes return JSON' },

  { id: 'order.routeFirst', from: order, says: '404 and 405 win over everything, also without a key or a valid body' },
  { id: 'order.preflightBeforeLimit', from: order, says: 'a preflight is answered before the rate limit' },
  { id: 'order.limitBeforeSize', from: order, says: '429 wins over 413' },
  { id: 'order.sizeBeforeType', from: order, says: '413 wins over 415' },
  { id: 'order.typeBeforeAuth', from: order, says: '415 wins over 401' },
  { id: 'order.authBeforeValidation', from: order, says: '401 wins over 400' },
  { id: 'order.validationBeforeExistence', from: order, says: '400 wins over 404' },
  { id: 'order.existenceBeforeState', from: order, says: '404 wins over 409: an unknown request has no state' },
  { id: 'order.validationBeforeState', from: order, says: '400 wins over 409' },

  {
    id: 'json.unknownFields',
    from: 'DECISIONS.md, "Unknown fields"',
    says: '400, at every level, each by its own path',
  },
  { id: 'json.proto', from: 'DECISIONS.md, "Unknown fields"', says: '__proto__ is an unknown field too' },
  { id: 'json.utf8', from: json, says: 'invalid UTF-8: 400' },
  { id: 'json.bom', from: json, says: 'a BOM: 400' },
  { id: 'json.duplicateKey', from: json, says: 'a duplicate key: the last one counts' },
  { id: 'json.noContentType', from: json, says: 'a body without a content type is read as JSON' },
  { id: 'json.malformed', from: 'SPEC.md section 7', says: 'no body, no JSON or no object: 400' },
  { id: 'body.contentLength', from: 'DECISIONS.md, "Further statuses"', says: '413 by what content-length says' },
  { id: 'body.chunked', from: 'DECISIONS.md, "Further statuses"', says: '413 by what comes, without content-length' },
  { id: 'body.atLimit', from: 'DECISIONS.md, "Settings"', says: 'a body of exactly MAX_BODY_BYTES is taken' },

  { id: 'query.unknown', from: 'DECISIONS.md, "Query"', says: 'unknown parameters are ignored' },
  { id: 'query.empty', from: 'DECISIONS.md, "Query"', says: 'an empty known parameter is 400' },
  { id: 'query.repeated', from: 'DECISIONS.md, "Query"', says: 'a repeated known parameter is 400' },
  { id: 'query.order', from: 'DECISIONS.md, "Query"', says: 'an order other than asc and desc is 400' },
  { id: 'times', from: 'DECISIONS.md, "Timestamps on the wire"', says: 'ISO 8601, UTC, milliseconds, Z' },
] as const satisfies readonly Rule[];
