import { ACTIONS, type Action } from '@prism-gateway/protocol';
import { EXAMPLE_REQUESTS } from '@prism-gateway/protocol/examples';
import { renderRecord } from '../../http/render.ts';
import type { StoredRequest } from '../../ports/requestStore.ts';
import type { Example, Examples } from '../document.ts';
import { RELAYER_AUTH_EXAMPLE } from '../text/authentication.ts';
import { ACTION_SUMMARIES } from '../text/descriptions.ts';

/** Id of the record in all examples: that of the worked example of relayer authentication. */
export const EXAMPLE_REQUEST_ID = '0197c2a4-5b1e-7c3d-8f60-0242ac120002';

const CREATED_AT = Date.parse('2026-01-01T00:00:01.250Z');
const CLAIMED_AT = Date.parse('2026-01-01T00:00:04.500Z');
const REPORTED_AT = Date.parse('2026-01-01T00:00:19.750Z');

type Change = Partial<StoredRequest>;

const CLAIM: Change = {
  status: 'processing',
  claimedBy: RELAYER_AUTH_EXAMPLE.address,
  claimedAt: CLAIMED_AT,
  updatedAt: CLAIMED_AT,
};

/** The changes to the record of an example. */
const CHANGES = {
  pending: {},
  processing: CLAIM,
  success: {
    ...CLAIM,
    status: 'success',
    updatedAt: REPORTED_AT,
    txHash: '0x8f3f7c1d5f0b9ce3c4c1c2a83f0d4fb2a9e6b7d05c1e4f8a7b6d3c2e1f0a9b8c',
  },
  failed: {
    ...CLAIM,
    status: 'failed',
    updatedAt: REPORTED_AT,
    errorMessage: 'execution reverted: InsufficientBalance',
  },
} as const satisfies Readonly<Record<string, Change>>;

/** The record of an action's example as the service returns it. */
export function exampleRecord(action: Action, status: keyof typeof CHANGES): unknown {
  const { chainName, params } = EXAMPLE_REQUESTS[action];
  const record: StoredRequest = {
    requestId: EXAMPLE_REQUEST_ID,
    chainName,
    action,
    signer: params.signer,
    status: 'pending',
    paramsJson: JSON.stringify(params),
    createdAt: CREATED_AT,
    updatedAt: CREATED_AT,
    ...CHANGES[status],
  };
  return JSON.parse(renderRecord(record));
}

/** The same without its params. */
export function exampleHead(action: Action, status: keyof typeof CHANGES): unknown {
  const { params: _, ...head } = Object(exampleRecord(action, status));
  return head;
}

function forEachAction(makeValue: (action: Action) => unknown): Examples {
  const example = (action: Action): Example => ({ summary: ACTION_SUMMARIES[action], value: makeValue(action) });
  return Object.fromEntries(ACTIONS.map((action) => [action, example(action)]));
}

/** A body of `POST /requests` for each action, really signed. */
export const CREATE_EXAMPLES: Examples = forEachAction((action) => EXAMPLE_REQUESTS[action]);

/** The answers to each of them. */
export const CREATED_EXAMPLES: Examples = forEachAction((action) => exampleRecord(action, 'pending'));

/** One record in each state. */
export const RECORD_EXAMPLES = {
  pending: { summary: 'Waiting for a relayer', value: exampleRecord('WRITE_DATA_FOR', 'pending') },
  processing: { summary: 'Claimed', value: exampleRecord('WRITE_DATA_FOR', 'processing') },
  success: { summary: 'Done', value: exampleRecord('WRITE_DATA_FOR', 'success') },
  failed: { summary: 'Failed', value: exampleRecord('WRITE_DATA_FOR', 'failed') },
} as const satisfies Examples;

/** SHA-256 of the five bytes `hello`. */
const KEY = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824';
const KEY_BASE64 = 'LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=';
const PROJECT = '8f14e45fceea167a5a36dedd4bea2543';
const TENANT = 'ce64bc8a68c748fe81d270e71704881d7b6a3fbd3e188641b34b76672186d39f';
const EXPIRES_SECONDS = 1767225660;
const EXPIRES_AT = new Date(EXPIRES_SECONDS * 1000).toISOString();
const SIGNATURE = 'Qm9vbV9hX3NpZ25hdHVyZV9vZl90aGlydHktdHdvX2I';

/** The path of an example's object below `/objects/`. */
export const EXAMPLE_OBJECT = { tenant: TENANT, projectId: PROJECT, key: KEY } as const;

const OPERATIONS = { put: 'Store it', get: 'Read it', head: 'Ask whether it is there', delete: 'Delete it' } as const;
type Operation = keyof typeof OPERATIONS;

/** Headers that bind a `put` to its content. */
export const BOUND_HEADERS = { 'if-none-match': '*', 'x-amz-checksum-sha256': KEY_BASE64 } as const;

function forEachOperation(makeValue: (operation: Operation) => unknown): Examples {
  // The keys are those of the object above.
  const operations = Object.keys(OPERATIONS) as Operation[];
  return Object.fromEntries(
    operations.map((operation) => [operation, { summary: OPERATIONS[operation], value: makeValue(operation) }]),
  );
}

/** A body of `POST /storage/sign` for each operation. */
export const SIGN_EXAMPLES: Examples = forEachOperation((operation) => ({
  projectId: `0x${PROJECT}`,
  key: `0x${KEY}`,
  operation,
}));

/**
 * The answers to each of them if objects are local; a bucket's URLs look different, and are used the same way.
 *
 * @param publicUrl - base of the service's own URLs, without a trailing slash
 */
export function createSignedExamples(publicUrl: string): Examples {
  return forEachOperation((operation) => {
    const method = operation.toUpperCase();
    const headers = operation === 'put' ? BOUND_HEADERS : {};
    const signed = operation === 'put' ? '&headers=if-none-match.x-amz-checksum-sha256' : '';
    const query = `expires=${EXPIRES_SECONDS}&method=${method}${signed}&signature=${SIGNATURE}`;
    const url = `${publicUrl}/objects/v1/${TENANT}/${PROJECT}/${KEY}?${query}`;
    return { url, method, headers, expiresAt: EXPIRES_AT };
  });
}
