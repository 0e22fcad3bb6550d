// Nine kinds of call, typed by what openapi-typescript has made of the service's /openapi.json alone.
import createClient from 'openapi-fetch';
import type { components, paths } from './api.d.ts';

const baseUrl = process.argv[2] ?? '';
const adminKey = { 'X-Admin-Key': process.argv[3] ?? '' };
const client = createClient<paths>({ baseUrl });

// What the document's own examples are is really signed.
const { paths: described } = await (await fetch(`${baseUrl}/openapi.json`)).json();
const { examples } = described['/requests'].post.requestBody.content['application/json'];
const body: components['schemas']['CreateRequestBody'] = examples.WRITE_DATA_FOR.value;

function need<T>({ data, error }: { data?: T | undefined; error?: unknown }): T {
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}

async function sign(method: string, path: string, sent?: unknown) {
  const call = { method, path, ...(sent !== undefined && { body: JSON.stringify(sent) }) };
  return need(await client.POST('/dev/relayer/sign', { body: call })).headers;
}

const { access_token } = need(await client.POST('/dev/identity/token', { body: { sub: 'alice' } }));
const key = `0x${'a1'.repeat(32)}`;
const signed = need(
  await client.POST('/storage/sign', {
    body: { projectId: `0x${'a1'.repeat(16)}`, key, operation: 'get' },
    headers: { Authorization: `Bearer ${access_token}` },
  }),
);
const created = need(await client.POST('/requests', { body }));
const { requestId } = created;
const read = need(await client.GET('/requests/{requestId}', { params: { path: { requestId } } }));
// Of a record of this action the params are known.
const payload = read.action === 'WRITE_DATA_FOR' ? read.params.payload : undefined;
const listed = need(await client.GET('/requests', { params: { query: { signer: read.signer, limit: 5 } } }));

const { 'x-relayer-address': address } = await sign('GET', '/requests/feed');
const relayer = need(await client.POST('/admin/relayers', { body: { address }, headers: adminKey }));
const claim: components['schemas']['ClaimBody'] = { status: 'processing' };
const patch = { params: { path: { requestId } }, body: claim };
const claimed = need(
  await client.PATCH('/requests/{requestId}', {
    ...patch,
    headers: await sign('PATCH', `/requests/${requestId}`, claim),
  }),
);
const again = await client.PATCH('/requests/{requestId}', {
  ...patch,
  headers: await sign('PATCH', `/requests/${requestId}`, claim),
});
const reports = { reports: [{ requestId, status: 'failed' as const, errorMessage: 'an example' }] };
const reported = need(
  await client.POST('/requests/reports', { body: reports, headers: await sign('POST', '/requests/reports', reports) }),
);
const stats = need(await client.GET('/admin/stats', { headers: adminKey }));

console.log(
  JSON.stringify({
    ...{ method: signed.method, status: created.status, payload, count: listed.count },
    ...{ isListed: relayer.address === address, claimed: claimed.status, conflict: again.error?.code },
    ...{ reported: reported.items.map((item) => item.status), version: stats.version.length },
  }),
);
