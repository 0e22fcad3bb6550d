import { ACTIONS, type Action } from '@prism-gateway/protocol';
import { EXAMPLE_REQUESTS } from '@prism-gateway/protocol/examples';
import type { StoredRequest } from '../../ports/requestStore.ts';
import { renderRecord } from '../../queue/renderRecord.ts';
import type { Example, Examples } from '../document.ts';
import { ACTION_SUMMARIES } from '../text/actions.ts';
import { RELAYER_AUTH_EXAMPLE } from './relayerAuthExample.ts';

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

/** What has happened to the record of an example. */
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

function forEachAction(makeValue: (action: Action) => unknown): Examples {
  const example = (action: Action): Example => ({ summary: ACTION_SUMMARIES[action], value: makeValue(action) });
  return Object.fromEntries(ACTIONS.map((action) => [action, example(action)]));
}

/** A body of `POST /requests` for each action, really signed. */
export const CREATE_EXAMPLES: Examples = forEachAction((action) => EXAMPLE_REQUESTS[action]);

/** What each of them is answered with. */
export const CREATED_EXAMPLES: Examples = forEachAction((action) => exampleRecord(action, 'pending'));

/** One record in each state. */
export const RECORD_EXAMPLES = {
  pending: { summary: 'Waiting for a relayer', value: exampleRecord('WRITE_DATA_FOR', 'pending') },
  processing: { summary: 'Claimed', value: exampleRecord('WRITE_DATA_FOR', 'processing') },
  success: { summary: 'Done', value: exampleRecord('WRITE_DATA_FOR', 'success') },
  failed: { summary: 'Failed', value: exampleRecord('WRITE_DATA_FOR', 'failed') },
} as const satisfies Examples;
