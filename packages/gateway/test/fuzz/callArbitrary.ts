import { EXAMPLE_REQUESTS } from '@prism-gateway/protocol/examples';
import { mutateJson } from '@prism-gateway/testing';
import fc from 'fast-check';
import type { FuzzCall, Proof } from './fuzzCall.ts';
import { ODD_BODIES } from './oddBodies.ts';

/** Names and keys of the gateway under test, so that calls can mean something to it. */
export interface FuzzTargets {
  readonly requestIds: readonly string[];
  readonly signer: string;
  /** Presigned URLs' paths with their queries. */
  readonly objects: readonly string[];
  /** `lastKey` of a first page of the signer's requests. */
  readonly lastKey: string;
}

type Template = Pick<FuzzCall, 'method' | 'target' | 'proof'> & { readonly json?: fc.Arbitrary<unknown> };

const TX_HASH = `0x${'ab'.repeat(32)}`;
const ADDRESSES = ['0x52908400098527886E0F7030069857D2E4169EE7', '0xde709f2102306220921060314715629080e2fb77'];

const creations = fc.constantFrom(...Object.values(EXAMPLE_REQUESTS));
const reports = fc.constantFrom(
  { status: 'processing' },
  { status: 'processing' },
  { status: 'success', txHash: TX_HASH },
  { status: 'failed', errorMessage: 'out of gas' },
);
const signOrders = fc
  .constantFrom('put', 'get', 'head', 'delete')
  .map((operation) => ({ projectId: `0x${'12'.repeat(16)}`, key: `0x${'34'.repeat(32)}`, operation }));
const whitelistings = fc.constantFrom(...ADDRESSES).map((address) => ({ address, label: 'fuzz' }));
const tokenOrders = fc.constantFrom({ sub: 'alice' }, { sub: 'bob', expiresIn: 60 });

/** Calls that the gateway would answer as wished. */
function templates({ requestIds, signer, objects, lastKey }: FuzzTargets): fc.Arbitrary<Template> {
  const get = (target: string, proof: Proof = 'none'): Template => ({ method: 'GET', target, proof });
  const plain = ['/', '/health', '/ready', '/metrics', '/openapi.json', '/docs', '/docs/', '/docs/init.js'];
  const identity = ['/dev/identity/.well-known/openid-configuration', '/dev/identity/jwks'];
  const lists = [`status=pending`, `status=processing&limit=1`, `chainName=eip155:31337`, `status=failed&order=desc`];
  const id = fc.constantFrom(...requestIds);
  const update = id.map(
    (one): Template => ({ method: 'PATCH', target: `/requests/${one}`, proof: 'relayer', json: reports }),
  );
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant({ method: 'POST', target: '/requests', proof: 'none', json: creations }) },
    { weight: 4, arbitrary: update },
    { weight: 2, arbitrary: id.map((one) => get(`/requests/${one}`)) },
    { weight: 2, arbitrary: fc.constantFrom(...lists.map((query) => get(`/requests?${query}`, 'relayer'))) },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        get(`/requests?signer=${signer}&limit=2`),
        get(`/requests?signer=${signer}&limit=2&lastKey=${lastKey}`),
      ),
    },
    {
      weight: 2,
      arbitrary: fc.constant({ method: 'POST', target: '/storage/sign', proof: 'user', json: signOrders }),
    },
    {
      weight: 2,
      arbitrary: fc.constant({ method: 'POST', target: '/admin/relayers', proof: 'admin', json: whitelistings }),
    },
    { weight: 1, arbitrary: fc.constant(get('/admin/relayers', 'admin')) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom(...ADDRESSES)
        .map((address) => ({ method: 'DELETE', target: `/admin/relayers/${address}`, proof: 'admin' })),
    },
    { weight: 1, arbitrary: fc.constantFrom(...[...plain, ...identity].map((path) => get(path))) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom('token', 'introspect', 'revoke')
        .map((name) => ({ method: 'POST', target: `/dev/identity/${name}`, proof: 'none', json: tokenOrders })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom('GET', 'PUT', 'HEAD', 'DELETE'), fc.constantFrom(...objects))
        .map(([method, target]) => ({ method, target, proof: 'none' })),
    },
  ) as fc.Arbitrary<Template>;
}

const ODD_PARTS = [
  '%',
  '%0',
  '%00',
  '%0d%0aX:1',
  '%ff',
  '%c3%28',
  '%2f',
  '%2e%2e/',
  '%25',
  '//',
  '/./',
  '/../',
  ';a=b',
];
const MORE_PARTS = [
  '\\',
  '?',
  '&',
  '#',
  '=',
  '*',
  ':',
  '@',
  '{',
  '}',
  '|',
  '^',
  '"',
  '<',
  '~',
  '\u00e9',
  '\u00ff',
  '+',
  '%20',
];
const oddPart = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...ODD_PARTS, ...MORE_PARTS) },
  { weight: 1, arbitrary: fc.constantFrom('a'.repeat(300), '%61'.repeat(2000), 'a'.repeat(8000), 'é'.repeat(20_000)) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      '?limit=0',
      '?limit=101',
      '&limit=1e2',
      '&limit=',
      '?status=pending&status=failed',
      '&order=desc',
      '?lastKey=AAAA',
      '&lastKey=%F0%9F',
      '?signer=0x',
      '?chainName=%00',
      '?__proto__=1',
    ),
  },
);

const insertAt = (target: string, part: string, at: number) => {
  const index = 1 + (at % target.length);
  return `${target.slice(0, index)}${part}${target.slice(index)}`;
};

/** Now and then alters a request target. */
function alterTarget(target: string): fc.Arbitrary<string> {
  const end = fc.constant(target.length - 1);
  const altered = fc
    .tuple(oddPart, fc.oneof(end, fc.nat(200)))
    .map(([part, at]) => insertAt(target, part, at).replaceAll(' ', '%20'));
  return fc.oneof(
    { weight: 6, arbitrary: fc.constant(target) },
    { weight: 3, arbitrary: altered },
    {
      weight: 1,
      arbitrary: fc.constantFrom('*', 'http://other.example/requests', '//', '/..', 'requests', `${target}/`),
    },
  );
}

const METHODS = ['GET', 'POST', 'PATCH', 'DELETE', 'PUT', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'M-SEARCH', 'QUERY'];

const ODD_HEADERS: readonly (readonly [string, string])[] = [
  ['Content-Type', 'application/json'],
  ['Content-Type', 'APPLICATION/JSON; charset=utf-16'],
  ['Content-Type', 'application/vnd.x+json'],
  ['Content-Type', 'text/plain'],
  ['Content-Type', 'application/x-www-form-urlencoded'],
  ['Content-Type', 'multipart/form-data'],
  ['Content-Type', ''],
  ['Content-Encoding', 'gzip'],
  ['Authorization', ''],
  ['Authorization', 'Bearer'],
  ['Authorization', 'Bearer a.b.c'],
  ['Authorization', `Bearer ${'a'.repeat(15_000)}`],
  ['Authorization', 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.'],
  ['Authorization', 'Basic %%%'],
  ['Authorization', 'Basic OjpAOg=='],
  ['X-Admin-Key', ''],
  ['X-Admin-Key', '\u00e4\u00ff'],
  ['X-Admin-Key', 'change-me-admin-ke'],
  ['X-Relayer-Address', '0x0'],
  ['X-Relayer-Address', `0x${'0'.repeat(40)}`],
  ['X-Relayer-Timestamp', '-1'],
  ['X-Relayer-Timestamp', '9'.repeat(17)],
  ['X-Relayer-Signature', '0x'],
  ['X-Relayer-Signature', `0x${'0'.repeat(128)}1b`],
  ['X-Relayer-Signature', `0x${'f'.repeat(130)}`],
  ['X-Request-Id', 'mine'],
  ['X-Request-Id', '\u00e9'.repeat(70)],
  ['X-Forwarded-For', '::1, %, 1.2.3.4'],
  ['X-HTTP-Method-Override', 'DELETE'],
  ['Origin', 'null'],
  ['Access-Control-Request-Headers', 'a,\u00e9'],
  ['Access-Control-Request-Method', 'PATCH'],
  ['If-None-Match', '"'],
  ['If-Modified-Since', 'never'],
  ['Range', 'bytes=9-1'],
  ['Range', 'bytes=0-0,-1'],
  ['x-amz-checksum-sha256', 'AAAA'],
  ['Expect', '100-continue'],
  ['Expect', 'a miracle'],
  ['Upgrade', 'websocket'],
  ['Host', ''],
  ['Host', 'a b'],
  ['Host', '[::1'],
  ['Host', 'x/../y?z#'],
  ['__proto__', 'x'],
  ['constructor', 'x'],
  ['Cookie', 'a'.repeat(4000)],
  ['X-Long', 'a'.repeat(17_000)],
];

const rareOf = <T>(usual: fc.Arbitrary<T>, rare: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 5, arbitrary: usual }, { weight: 1, arbitrary: rare });

const cut = (body: Uint8Array, at: number) => body.subarray(0, body.length === 0 ? 0 : at % body.length);

function bodyOf({ json }: Template): fc.Arbitrary<Uint8Array> {
  const odd = fc.constantFrom(...ODD_BODIES);
  const noise = fc.uint8Array({ maxLength: 200 });
  if (json === undefined) return fc.oneof({ weight: 8, arbitrary: fc.constant(new Uint8Array()) }, odd, noise);
  const write = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
  return fc.oneof(
    { weight: 4, arbitrary: json.map(write) },
    { weight: 4, arbitrary: mutateJson(json).map(write) },
    { weight: 1, arbitrary: fc.tuple(json.map(write), fc.nat(5000)).map(([body, at]) => cut(body, at)) },
    { weight: 2, arbitrary: odd },
    { weight: 1, arbitrary: noise },
  );
}

/** Makes a call of a template: mostly nearly right, so that what lies behind the first check is reached too. */
function callOf(template: Template): fc.Arbitrary<FuzzCall> {
  const framing = template.json === undefined ? ('none' as const) : ('length' as const);
  return fc.record({
    method: rareOf(fc.constant(template.method), fc.constantFrom(...METHODS)),
    target: alterTarget(template.target),
    version: rareOf(fc.constant('1.1' as const), fc.constant('1.0' as const)),
    headers: fc.array(fc.constantFrom(...ODD_HEADERS), { maxLength: 2 }),
    proof: rareOf(fc.constant(template.proof), fc.constantFrom<Proof[]>('none', 'all', 'stranger', 'user', 'admin')),
    body: bodyOf(template),
    framing: rareOf(fc.constant(framing), fc.constantFrom('length', 'chunked', 'too short', 'too long', 'none')),
  });
}

/** Makes an arbitrary of calls to every route: right ones, nearly right ones, and wild ones. */
export function callArbitrary(targets: FuzzTargets): fc.Arbitrary<FuzzCall> {
  return templates(targets).chain(callOf);
}
