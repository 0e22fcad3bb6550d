import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { EXAMPLE_REQUESTS } from '@prism-gateway/protocol/examples';
import { startGateway } from '@prism-gateway/testing';
import { expect, test } from 'vitest';

// Shows STORE-9.
test('uploads are refused while the queue has four times less reserve, and posts go on', async () => {
  const { bavail, bsize } = statfsSync(tmpdir());
  // Half of what is free: enough for the queue, too little for uploads.
  const gateway = await startGateway({ env: { MIN_FREE_DISK_BYTES: String(Math.floor((bavail * bsize) / 2)) } });
  try {
    const headers = { 'content-type': 'application/json' };
    const ask = (path: string, body: unknown, more = {}) =>
      fetch(`${gateway.url}${path}`, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) });
    // Answers of the gateway's own.
    const issued = (await (await ask('/dev/identity/token', { sub: 'alice' })).json()) as Record<string, string>;
    const token = issued.access_token ?? issued.accessToken ?? issued.token;
    const hex = `0x${'11'.repeat(32)}`;
    const order = { projectId: `0x${'12'.repeat(16)}`, key: hex, operation: 'put' };
    const answer = await ask('/storage/sign', order, { authorization: `Bearer ${token}` });
    const text = await answer.text();
    expect(answer.status, text).toBe(200);
    const signed = JSON.parse(text) as { url: string; headers: Record<string, string> };
    const put = await fetch(signed.url, { method: 'PUT', headers: signed.headers, body: 'x' });
    expect(put.status).toBe(503);
    expect((await ask('/requests', EXAMPLE_REQUESTS.WRITE_DATA_FOR)).status).toBe(201);
  } finally {
    await gateway.stop();
  }
});
