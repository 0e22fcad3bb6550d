import { createRelayerClient } from '@prism-gateway/sdk';
import { startFetchServer } from '@prism-gateway/testing';
import { privateKeyToAccount } from 'viem/accounts';
import { expect, onTestFinished, test } from 'vitest';
import { makeContext } from '../../test/makeContext.ts';
import { createQueueCalls, createRequestGateway } from './createRequestGateway.ts';

const account = privateKeyToAccount(`0x${'11'.repeat(32)}`);
const [KNOWN, UNKNOWN] = ['019b7726-7173-74a0-b794-8c19c88708b9', '019b7726-7173-74a0-b794-8c19c88708ba'];

function openGateway(url: string) {
  const { signal } = new AbortController();
  const client = createRelayerClient({ url, account });
  const calls = createQueueCalls({ client, chainName: 'a', signal });
  const { events } = makeContext({});
  return createRequestGateway({ client, calls, chainName: 'a', events, monotonicNow: () => 0, signal });
}

// Shows RELAY-8.
test('a request that the gateway does not know is lost, and no sign that it has no leases', async () => {
  // It has the specification's calls alone.
  const server = await startFetchServer(async ({ method, url }) => {
    if (method !== 'GET' || !url.endsWith(KNOWN))
      return Response.json({ error: 'There is no such thing.' }, { status: 404 });
    const { address: signer } = account;
    const head = { requestId: KNOWN, chainName: 'a', action: 'WRITE_DATA_FOR', signer, status: 'processing' };
    const dates = { createdAt: new Date(0).toISOString(), updatedAt: new Date(0).toISOString() };
    return Response.json({ ...head, ...dates, claimedBy: signer, params: { signer } });
  });
  onTestFinished(() => server.close());
  const gateway = openGateway(server.url);
  expect([await gateway.release(UNKNOWN), gateway.hasLeases()]).toEqual(['lost', true]);
  expect([await gateway.release(KNOWN), gateway.hasLeases()]).toEqual(['absent', false]);
});

// Shows LEASE-6.
test.each([
  ['CLAIMED_TOO_LONG', 'refused'],
  ['TOO_MANY_OPEN_CLAIMS', 'refused'],
  ['REQUEST_ALREADY_CLAIMED', 'conflict'],
])('a claim that is answered by 409 with %s is %s: only a rival has the request forgotten', async (code, result) => {
  const server = await startFetchServer(async () => Response.json({ error: 'No.', code }, { status: 409 }));
  onTestFinished(() => server.close());
  expect(await openGateway(server.url).claim([KNOWN])).toEqual(new Map([[KNOWN, result]]));
});
