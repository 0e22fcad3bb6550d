import { signHeaders, timestampNow } from './signHeaders.ts';
import type { Relayer, Target } from './target.ts';
import { waitOutLimits } from './waitOutLimits.ts';

interface Tidying {
  readonly method: string;
  readonly path: string;
  readonly query?: string;
  readonly body?: string;
  readonly relayer: Relayer;
}

/** The part of a record that tidying up needs. */
interface LeftRecord {
  readonly requestId: string;
  readonly chainName: string;
  readonly createdAt: string;
  readonly claimedBy?: string;
}

const retryAfterOf = ({ status, headers }: Response) =>
  status === 429 ? (headers.get('retry-after') ?? '1') : undefined;

/** Kept apart from the tests' own caller: tidying up asserts nothing. */
async function callSigned(target: Target, { relayer, query = '', body = '', ...call }: Tidying): Promise<Response> {
  const { method, path } = call;
  return await waitOutLimits(async () => {
    const signed = { method, path, body: new TextEncoder().encode(body), timestamp: timestampNow(target) };
    const type = body === '' ? {} : { 'content-type': 'application/json' };
    const headers = { ...(await signHeaders(relayer, signed)), ...type };
    return await fetch(`${target.url}${path}${query}`, { method, headers, ...(body !== '' && { body }) });
  }, retryAfterOf);
}

const REPORT = JSON.stringify({
  status: 'failed',
  errorMessage: 'A request of an acceptance run; nobody waits for it.',
});

/** Claims a request if nobody has, and reports it as failed. */
async function finish(target: Target, record: LeftRecord): Promise<void> {
  const owner = record.claimedBy?.toLowerCase();
  // A run has relayers; one that the test made for itself is gone, and its claim stays.
  const relayer = target.relayers.find(({ address }) => address.toLowerCase() === owner) ?? target.relayers[0];
  if (relayer === undefined) return;
  const call = { method: 'PATCH', path: `/requests/${record.requestId}`, relayer };
  const bodies = owner === undefined ? ['{"status":"processing"}', REPORT] : [REPORT];
  for (const body of bodies) await (await callSigned(target, { ...call, body })).arrayBuffer();
}

/** Takes the run's requests out of a list, newest first, until the list is older than the run. */
async function finishAll(target: Target, query: string, startedAt: string): Promise<void> {
  const [relayer] = target.relayers;
  for (let cursor: string | null = ''; cursor !== null && relayer !== undefined; ) {
    const next: string = cursor === '' ? query : `${query}&lastKey=${cursor}`;
    const response = await callSigned(target, { method: 'GET', path: '/requests', query: next, relayer });
    if (response.status !== 200) return;
    // A 200 of this route is a page.
    const page = (await response.json()) as { items: LeftRecord[]; lastKey: string | null };
    const ours = page.items.filter(({ chainName }) => chainName.startsWith(`acceptance.${target.run}`));
    for (const record of ours) await finish(target, record);
    cursor = page.items.some(({ createdAt }) => createdAt < startedAt) ? null : page.lastKey;
  }
}

/**
 * Leaves a gateway as tidy as can be: the run's open requests are reported failed, so that no relayer meets them, and its
 * relayers leave the whitelist. (Records stay: nothing deletes them.)
 *
 * @param run.startedAt - ISO 8601, by the gateway's clock
 */
export async function closeTarget(target: Target, run: { readonly startedAt: string }): Promise<void> {
  try {
    for (const status of ['pending', 'processing']) {
      await finishAll(target, `?status=${status}&order=desc&limit=100`, run.startedAt);
    }
  } finally {
    for (const { address } of target.relayers) {
      const init = { method: 'DELETE', headers: { 'x-admin-key': target.adminKey } };
      const send = () => fetch(`${target.url}/admin/relayers/${address}`, init);
      await (await waitOutLimits(send, retryAfterOf)).arrayBuffer();
    }
  }
}
