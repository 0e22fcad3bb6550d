import { once } from 'node:events';
import { EXAMPLE_REQUESTS } from '@prism-gateway/protocol/examples';
import { type RunningGateway, startGateway } from '@prism-gateway/testing';
import { expect, test } from 'vitest';

const BODY = JSON.stringify(EXAMPLE_REQUESTS.WRITE_DATA_FOR);

async function post({ url }: RunningGateway): Promise<{ requestId: string }> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/requests`, { method: 'POST', headers, body: BODY });
  // It is a record.
  return (await answer.json()) as { requestId: string };
}

/** Waits for another status than `pending`. */
function wait({ url }: RunningGateway, requestId: string): Promise<Response> {
  return fetch(`${url}/requests/${requestId}?status=pending&wait=25`);
}

// Shows WAIT-2.
test('a gateway that is stopped answers those who wait at once, with the record as it is', async () => {
  const gateway = await startGateway();
  const { requestId } = await post(gateway);
  const waiting = Array.from({ length: 5 }, () => wait(gateway, requestId));
  // What comes later on connections of its own has been answered, so that the waits have come in, too.
  for (let i = 0; i < 5; i++) await post(gateway);
  const closed = once(gateway.process, 'close');
  gateway.process.kill('SIGTERM');
  for (const answer of await Promise.all(waiting)) {
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ requestId, status: 'pending' });
  }
  expect(await closed).toEqual([0, null]);
});

// Shows WAIT-1.
test('who waits for a request that an administrator removes learns at once that it is gone', async () => {
  const gateway = await startGateway();
  try {
    const { requestId } = await post(gateway);
    const waiting = wait(gateway, requestId);
    // Answered on a connection of its own, so that the wait has come in, too.
    await post(gateway);
    const { url, adminKey } = gateway;
    const sentAt = performance.now();
    const removed = await fetch(`${url}/admin/requests/${requestId}`, {
      method: 'DELETE',
      headers: { 'x-admin-key': adminKey },
    });
    expect(removed.ok).toBe(true);
    expect((await waiting).status).toBe(404);
    // Far less than the wait that was asked for, on a busy machine too.
    expect(performance.now() - sentAt).toBeLessThan(15_000);
  } finally {
    await gateway.stop();
  }
});
