import { readFileSync } from 'node:fs';
import { recoverTypedDataAddress } from 'viem';
import { describe, expect, test } from 'vitest';
import { buildExampleRequests } from '../../scripts/exampleRequests.ts';
import { ACTIONS } from '../actions/action.ts';
import { createRequestParser } from '../requests/create.ts';
import { createPermitTypedData, joinSignature, recoverRequestSigner } from '../typedData/index.ts';
import { EXAMPLE_CONTEXT } from './exampleContext.ts';
import { EXAMPLE_REQUESTS } from './exampleRequests.ts';

const { chainId, forwarder, creditToken, chainName, signer } = EXAMPLE_CONTEXT;
const nonce = BigInt(EXAMPLE_CONTEXT.nonce);
const bodies = Object.values(EXAMPLE_REQUESTS);

test('the examples are what the generator makes', async () => {
  expect(EXAMPLE_REQUESTS).toEqual(await buildExampleRequests());
});

test('each action has its example', () => {
  expect(Object.keys(EXAMPLE_REQUESTS).sort()).toEqual([...ACTIONS].sort());
  for (const action of ACTIONS) expect(EXAMPLE_REQUESTS[action]).toMatchObject({ action, chainName });
});

test('the examples are plain data: nothing is imported but types', () => {
  const source = readFileSync(new URL('exampleRequests.ts', import.meta.url), 'utf8');
  expect(source.match(/^import (?!type ).*/gm)).toBeNull();
  expect(JSON.parse(JSON.stringify(EXAMPLE_REQUESTS))).toEqual(EXAMPLE_REQUESTS);
});

describe('the service takes the example of', () => {
  const parse = createRequestParser({ maxBatchSize: 100 });
  test.each(bodies.map((body) => [body.action, body] as const))('%s', (_, body) => {
    expect(parse(body)).toEqual({ value: body });
  });
});

describe('the signer has signed the example of', () => {
  test.each(bodies.map((body) => [body.action, body] as const))('%s', async (_, { action, params }) => {
    expect(params.signer).toBe(signer);
    if (action === 'BATCH_MULTI_USER_WRITE_DATA') {
      expect(new Set(params.requests.map((entry) => entry.signer)).size).toBe(params.requests.length);
      for (const entry of params.requests) {
        const write = { action: 'WRITE_DATA_FOR', params: entry, nonce, chainId, forwarder } as const;
        expect(await recoverRequestSigner(write)).toBe(entry.signer);
      }
      return;
    }
    expect(await recoverRequestSigner({ action, params, nonce, chainId, forwarder })).toBe(signer);
  });
});

test('the owner has signed the permit', async () => {
  const { fundAmount, permit } = EXAMPLE_REQUESTS.CREATE_PRISM_FOR.params;
  if (permit === undefined) throw new Error('the example has a permit');
  const typedData = createPermitTypedData({
    token: creditToken,
    chainId,
    owner: signer,
    spender: forwarder,
    value: BigInt(fundAmount),
    nonce,
    deadline: BigInt(permit.deadline),
  });
  expect(await recoverTypedDataAddress({ ...typedData, signature: joinSignature(permit) })).toBe(signer);
});
