import { signHeaders, timestampNow } from './signHeaders.ts';
import type { Relayer, Target } from './target.ts';

/** Kept apart from the tests' own caller: tidying up asserts nothing. */
async function callSigned(target: Target, call: { method: string; path: string; query?: string; body?: string }) {
  const { method, path, query = '', body = '' } = call;
  // A run has relayers.
  const relayer = target.relayers[0] as Relayer;
  const signed = { method, path, body: new TextEncoder().encode(body), timestamp: timestampNow(target) };
  const headers = {
    ...(await signHeaders(relayer, signed)),
    ...(body !== '' && { 'content-type': 'application/json' }),
  };
  return await fetch(`${target.url}${path}${query}`, { method, headers, ...(body !== '' && { body }) });
}

async function finish(target: Target, requestId: string): Promise<void> {
  const path = `/requests/${requestId}`;
  const claim = await callSigned(target, { method: 'PATCH', path, body: '{"status":"processing"}' });
  await claim.arrayBuffer();
  const body = JSON.stringify({ status: 'failed', errorMessage: 'A request of an acceptance run; nobody wants it.' });
  const report = await callSigned(target, { method: 'PATCH', path, body });
  await report.arrayBuffer();
}

/** Takes the run's pending requests out of the queue, newest first, until the queue is older than the run. */
async function finishPending(target: Target, startedAt: string): Promise<void> {
  const query = '?status=pending&order=desc&limit=100';
  for (let cursor: string | null = ''; cursor !== null; ) {
    const next = cursor === '' ? query : `${query}&lastKey=${cursor}`;
    const response = await callSigned(target, { method: 'GET', path: '/requests', query: next });
    if (response.status !== 200) return;
    // A 200 of this route is a page.
    const page = (await response.json()) as { items: Record<string, string>[]; lastKey: string | null };
    const ours = page.items.filter(({ chainName }) => chainName?.startsWith(`acceptance.${target.run}`));
    for (const { requestId } of ours) if (requestId !== undefined) await finish(target, requestId);
    cursor = page.items.some(({ createdAt }) => createdAt !== undefined && createdAt < startedAt) ? null : page.lastKey;
  }
}

/**
 * Leaves a gateway as tidy as can be: the run's pending requests are claimed and reported failed, so that no relayer meets
 * them, and its relayers leave the whitelist. (Records stay: nothing deletes them.)
 *
 * @param run.startedAt - ISO 8601, by the gateway's clock
 */
export async function closeTarget(target: Target, run: { readonly startedAt: string }): Promise<void> {
  try {
    await finishPending(target, run.startedAt);
  } finally {
    for (const { address } of target.relayers) {
      const headers = { 'x-admin-key': target.adminKey };
      const response = await fetch(`${target.url}/admin/relayers/${address}`, { method: 'DELETE', headers });
      await response.arrayBuffer();
    }
  }
}
