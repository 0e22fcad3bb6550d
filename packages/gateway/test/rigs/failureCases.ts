import { EXAMPLE_REQUESTS } from '@prism-gateway/protocol/examples';
import { EXAMPLE_REQUEST_ID } from '../../src/openapi/examples/successes.ts';
import type { Ask } from './documentedGateway.ts';

/** A call that fails, and the documented example of its answer. */
export type FailureCase = readonly [operationId: string, status: number, example: string, ask: Ask];

type More = Omit<Ask, 'method' | 'path'>;

const get = (path: string, more: More = {}): Ask => ({ method: 'GET', path, ...more });
const post = (path: string, body: unknown, more: More = {}): Ask => ({ method: 'POST', path, body, ...more });

const REQUEST = `/requests/${EXAMPLE_REQUEST_ID}`;
const TOKEN = '/dev/identity/token';
const RELAYERS = '/admin/relayers';
const TX_HASH = `0x${'ab'.repeat(32)}`;
/** One byte more than the default limit. */
const TOO_LARGE = 'x'.repeat(262_145);
const NOT_JSON: More = { headers: { 'content-type': 'text/plain' } };
const WRONG_KEY: More = { headers: { 'x-admin-key': 'a wrong key' } };

const { WRITE_DATA_FOR: write, CREATE_PRISM_FOR: create, BATCH_WRITE_DATA_FOR: batch } = EXAMPLE_REQUESTS;
const { signer, ...unsigned } = write.params;

const creation: readonly FailureCase[] = [
  ['everyFault', { action: write.action, params: { ...unsigned, payload: '0x7', relayerFee: 10, note: 'please' } }],
  ['unknownAction', { ...write, action: 'SEND_DATA_FOR' }],
  ['permitWithoutFunds', { ...create, params: { ...create.params, fundAmount: '0' } }],
  ['unequalBatch', { ...batch, params: { ...batch.params, payloads: batch.params.payloads.slice(1) } }],
  ['notJson', '{"chainName":'],
].map(([example, body]) => ['createRequest', 400, String(example), post('/requests', body)]);

const lists: readonly FailureCase[] = [
  ['listRequests', 400, 'noFilter', get('/requests?limit=20')],
  ['listRequests', 400, 'everyFault', get('/requests?signer=0x12&limit=0&order=newest')],
  ['listRequests', 400, 'repeated', get('/requests?status=pending&status=failed', { relayer: 'first' })],
  ['listRequests', 400, 'foreignCursor', get(`/requests?signer=${signer}&lastKey=dGFtcGVyZWQ`)],
];

const proofs: readonly FailureCase[] = [
  ['missing', {}],
  // Later than it was signed by a millisecond; earlier by more than five minutes.
  ['signature', { relayer: 'first', headers: { 'x-relayer-timestamp': '1767225630001' } }],
  ['timestamp', { relayer: 'first', headers: { 'x-relayer-timestamp': '1767225000000' } }],
].flatMap(([example, proof]): FailureCase[] => [
  ['listRequests', 401, String(example), get('/requests?status=pending', Object(proof))],
  ['listRequests', 401, String(example), get('/requests?chainName=eip155:1', Object(proof))],
  [
    'updateRequest',
    401,
    String(example),
    { ...post(REQUEST, { status: 'processing' }, Object(proof)), method: 'PATCH' },
  ],
]);

const updates: readonly FailureCase[] = [
  [400, 'pending', { status: 'pending' }],
  [400, 'noTxHash', { status: 'success' }],
  [400, 'wrongField', { status: 'failed', errorMessage: 'out of gas', txHash: TX_HASH }],
  [404, 'unknown', { status: 'processing' }],
].map(([status, example, body]) => [
  'updateRequest',
  Number(status),
  String(example),
  { method: 'PATCH', path: REQUEST, relayer: 'first', body },
]);

const reads: readonly FailureCase[] = [
  ['readRequest', 400, 'notUuid', get('/requests/42')],
  ['readRequest', 404, 'unknown', get(REQUEST)],
];

const tokens: readonly FailureCase[] = [
  ['signStorage', 401, 'missing', post('/storage/sign', {})],
  ['signStorage', 401, 'malformed', post('/storage/sign', {}, { headers: { authorization: 'Basic abc' } })],
];

const keys: readonly FailureCase[] = [
  ['addRelayer', 401, 'missing', post(RELAYERS, {})],
  ['addRelayer', 401, 'wrong', post(RELAYERS, {}, WRONG_KEY)],
  ['listRelayers', 401, 'missing', get(RELAYERS)],
  ['listRelayers', 401, 'wrong', get(RELAYERS, WRONG_KEY)],
  ['removeRelayer', 401, 'missing', { method: 'DELETE', path: `${RELAYERS}/${signer}` }],
  ['removeRelayer', 401, 'wrong', { method: 'DELETE', path: `${RELAYERS}/${signer}`, ...WRONG_KEY }],
];

const bodies: readonly FailureCase[] = [
  ['createRequest', 'POST', '/requests'],
  ['updateRequest', 'PATCH', REQUEST],
  ['addRelayer', 'POST', RELAYERS],
  ['signStorage', 'POST', '/storage/sign'],
].flatMap(([operationId = '', method = '', path = '']): FailureCase[] => [
  [operationId, 413, 'tooLarge', { method, path, body: TOO_LARGE }],
  [operationId, 415, 'notJson', { method, path, body: {}, ...NOT_JSON }],
]);

const besideIds: readonly FailureCase[] = [
  ['readRequest', 405, 'other', get('/requests/claims')],
  ['updateRequest', 405, 'other', { method: 'PATCH', path: '/requests/feed' }],
];

const developmentTokens: readonly FailureCase[] = [
  ['issueDevelopmentToken', 400, 'refused', post(TOKEN, { sub: '' })],
  ['issueDevelopmentToken', 413, 'refused', post(TOKEN, TOO_LARGE)],
  ['issueDevelopmentToken', 415, 'refused', post(TOKEN, {}, NOT_JSON)],
];

/**
 * Failures that need nothing to have happened before but that `first` is whitelisted.
 *
 * They are meant for a clock at 2026-01-01T00:00:30Z.
 */
export const FAILURE_CASES: readonly FailureCase[] = [
  ...creation,
  ...lists,
  ...proofs,
  ...updates,
  ...reads,
  ...tokens,
  ...keys,
  ...bodies,
  ...besideIds,
  ...developmentTokens,
];
