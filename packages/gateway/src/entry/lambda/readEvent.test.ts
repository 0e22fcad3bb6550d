import { type HttpCall, httpApiEvent, restApiEvent } from '@prism-gateway/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readEvent } from './readEvent.ts';

const call: HttpCall = {
  method: 'PATCH',
  target: '/requests/1?a=b&a=c%26d&e',
  headers: [
    ['Host', 'x'],
    ['X-Two', 'one'],
    ['X-Two', 'two'],
  ],
  body: Uint8Array.from([0, 255, 10]),
  peerAddress: '203.0.113.7',
};
const plain = { stage: '$default', basePath: '', domainName: 'api.example.org' };
const basePath = '';

const shapes = { 'payload 2.0': httpApiEvent, 'payload 1.0': restApiEvent };

describe.each(Object.entries(shapes))('%s', (_, write) => {
  it('tells method, path, query, peer and address', () => {
    const read = readEvent(write(call, { ...plain, stage: 'prod' }), { basePath });
    expect(read).toMatchObject({
      method: 'PATCH',
      path: '/requests/1',
      prefix: '/prod',
      peerAddress: '203.0.113.7',
      domainName: 'api.example.org',
    });
    const query = new URL(read?.url ?? '').searchParams;
    expect([...query]).toEqual([...new URLSearchParams('a=b&a=c%26d&e')]);
  });

  it('tells every value of a header', () => {
    const read = readEvent(write(call, plain), { basePath });
    const values = read?.headers.filter(([name]) => name.toLowerCase() === 'x-two').map(([, value]) => value);
    expect(values?.join(',').replaceAll(' ', '')).toBe('one,two');
  });

  it('gives any body byte for byte, sent as text or as base64', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.boolean(), (body, isText) => {
        const headers = [['content-type', isText ? 'application/json' : 'application/octet-stream']] as const;
        const read = readEvent(write({ ...call, headers, body }, plain), { basePath });
        expect(Buffer.compare(read?.body ?? Buffer.from('none'), body)).toBe(0);
      }),
    );
  });

  it.each([
    ['/requests/a%20b', '/requests/a%20b'],
    ['/requests/%E2%82%AC', '/requests/%E2%82%AC'],
    ['/requests/100%25', '/requests/100%25'],
    ['/requests/a%3Fb', '/requests/a%3Fb'],
    ['/requests/%41', '/requests/A'],
  ])('reads the path %s that was decoded on the way', (target, path) => {
    const event = write({ ...call, target }, { ...plain, decodesPath: true });
    expect(new URL(readEvent(event, { basePath })?.url ?? '').pathname).toBe(path);
  });
});

it('leaves alone what only looks like a stage, where a REST API has taken the stage off', () => {
  const event = restApiEvent({ ...call, target: '/prod/requests' }, { ...plain, stage: 'prod' });
  expect(readEvent(event, { basePath })).toMatchObject({ path: '/prod/requests', prefix: '/prod' });
});

it('strips base path and stage of a REST API behind a mapping without a stage', () => {
  const event = {
    ...restApiEvent({ ...call, target: '/prod/requests' }, { ...plain, stage: 'prod', basePath: '/v1' }),
  };
  expect(readEvent(event, { basePath: '/v1' })).toMatchObject({ path: '/requests', prefix: '/v1/prod' });
});

it('takes single values where a test event has no lists', () => {
  const event = {
    httpMethod: 'GET',
    path: '/requests',
    headers: { 'X-One': '1' },
    queryStringParameters: { limit: '5' },
    requestContext: {},
  };
  expect(readEvent(event, { basePath })).toMatchObject({
    url: 'http://function/requests?limit=5',
    headers: [['X-One', '1']],
    peerAddress: '',
  });
});

it.each([
  ['nothing', undefined],
  ['null', null],
  ['text', 'warm'],
  ['a ping', { ping: true }],
  ['a list', [1]],
  ['a schedule', { source: 'aws.events', 'detail-type': 'Scheduled Event', detail: {} }],
  ['half an event', { rawPath: '/requests' }],
  ['another half', { httpMethod: 'GET' }],
])('takes %s for no HTTP call', (_, event) => {
  expect(readEvent(event, { basePath })).toBeUndefined();
});

it('reads anything without failing', () => {
  const event = fc.oneof(
    fc.anything(),
    fc.record({
      rawPath: fc.string(),
      requestContext: fc.record({ http: fc.record({ method: fc.string() }) }),
      headers: fc.anything(),
    }),
    fc.record({ path: fc.string(), httpMethod: fc.string(), multiValueHeaders: fc.anything(), body: fc.anything() }),
  );
  fc.assert(
    fc.property(event, (value) => {
      expect(() => readEvent(value, { basePath })).not.toThrow();
    }),
  );
});
