import { expect } from 'vitest';
import { callApi } from '../rig/callApi.ts';
import { callAsRelayer } from '../rig/callAsRelayer.ts';
import { covers } from '../rig/covers.ts';
import type { HttpRequest } from '../rig/httpMessage.ts';
import { randomHex } from '../rig/randomHex.ts';
import { claim, createRequest, writeBody } from '../rig/requests.ts';
import { readTarget, relayerAt } from '../rig/target.ts';

const target = readTarget();

covers(
  ['limit.headers'],
  'RateLimit and RateLimit-Policy stand on limited answers of every status',
  async (context) => {
    if (!target.isLimited) return context.skip('its rate limits are off');
    const { requestId } = await createRequest(target);
    await claim(target, requestId);
    const claimAgain = { method: 'PATCH', path: `/requests/${requestId}`, json: { status: 'processing' } };
    const anonymous: readonly (readonly [number, HttpRequest])[] = [
      [200, { path: '/requests', query: { signer: randomHex(20) } }],
      [200, { path: `/requests/${requestId}` }],
      [201, { method: 'POST', path: '/requests', json: writeBody(target) }],
      [400, { path: '/requests' }],
      [400, { method: 'POST', path: '/requests', json: {} }],
      [401, { path: '/requests', query: 'status=pending' }],
      [401, claimAgain],
      [404, { path: `/requests/${crypto.randomUUID()}` }],
      [413, { method: 'POST', path: '/requests', body: ' '.repeat(target.maxBodyBytes + 1) }],
      [413, { method: 'PATCH', path: claimAgain.path, body: ' '.repeat(target.maxBodyBytes + 1) }],
      [415, { method: 'POST', path: '/storage/sign', body: 'x', contentType: 'text/plain' }],
    ];
    const answers = await Promise.all(
      anonymous.map(async ([status, call]) => [status, call, await callApi(target, call)] as const),
    );
    answers.push([409, claimAgain, await callAsRelayer(target, { ...claimAgain, relayer: relayerAt(target, 1) })]);
    for (const [status, { json: _json, body: _body, ...call }, answer] of answers) {
      expect([call, answer.status]).toEqual([call, status]);
      expect([call, answer.headers.get('ratelimit')]).toEqual([call, expect.stringMatching(/^"[\w-]+";r=\d+;t=\d+$/)]);
      const policy = expect.stringMatching(/^"[\w-]+";q=\d+;w=60$/);
      expect([call, answer.headers.get('ratelimit-policy')]).toEqual([call, policy]);
    }
  },
);

covers(
  ['limit.classes', 'limit.headers'],
  'reads, writes and failed authentications name their own limits',
  async (context) => {
    if (!target.isLimited) return context.skip('its rate limits are off');
    const nameOf = async (call: HttpRequest) =>
      /^"([\w-]+)"/.exec((await callApi(target, call)).headers.get('ratelimit') ?? '')?.[1];
    expect(await nameOf({ path: '/requests', query: { signer: randomHex(20) } })).toBe('reads');
    expect(await nameOf({ method: 'POST', path: '/requests', json: {} })).toBe('writes');
    expect(await nameOf({ method: 'POST', path: '/storage/sign', json: {} })).toBe('auth-failures');
  },
);

covers(['limit.unlimited'], 'operational routes, preflights, 404 and 405 are counted nowhere', async () => {
  const calls: readonly (readonly [number, HttpRequest])[] = [
    [200, { path: '/health', isPlain: true }],
    [200, { path: '/openapi.json', isPlain: true }],
    [200, { path: '/docs', isPlain: true }],
    [204, { method: 'OPTIONS', path: '/requests' }],
    [404, { path: `/${randomHex(8)}` }],
    [405, { method: 'PUT', path: '/requests', json: {} }],
  ];
  for (const [status, call] of calls) {
    const answer = await callApi(target, call);
    expect([call, answer.status, answer.headers.get('ratelimit')]).toEqual([call, status, null]);
  }
});
