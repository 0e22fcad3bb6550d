import type { HttpCall } from '@prism-gateway/testing';
import { type CallFacts, makeCall } from './makeCall.ts';

const ID = '0197f3c6-6c1e-7a52-8d0f-3b1c5a7e9d24';
const SIGNER = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';

const paths = [
  ...['/', '/health', '/ready', '/unknown', '/requests/', '//requests', '/requests//', '/Requests', '/requests;a=b'],
  ...[`/requests/${ID}`, `/requests/${ID.toUpperCase()}`, `/requests/${ID}/`, '/requests/not-a-uuid', '/requests/*'],
  ...['/requests/a%20b', '/requests/%41', '/requests/%E2%82%AC', '/requests/a%2Fb', '/requests/%2e%2e', '/a/../health'],
  ...['/requests/%3Fa', '/requests/a%23b', '/requests/a+b', "/requests/('!~*)", '/./health', '/requests/a:b@c,d;e=f&g'],
  ...['/docs/none.js', '/objects/x', '/dev/identity/token', `/requests/${'a'.repeat(2000)}`],
];

const queries = [
  ...['', '?', '?signer=', '?signer', `?signer=${SIGNER}`, `?signer=${SIGNER.toLowerCase()}&limit=1`, '?signer=0x12'],
  ...[`?signer=${SIGNER}&signer=${SIGNER}`, `?signer=${SIGNER}&limit=0`, `?signer=${SIGNER}&limit=1&limit=2`],
  ...[`?signer=${SIGNER}&limit=`, `?signer=${SIGNER}&order=up`, `?signer=${SIGNER}&unknown=1&unknown=2`],
  ...[`?signer=${SIGNER}&lastKey=AAAA`, `?signer=%30xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266`, '?chainName=a%20b'],
  ...['?status=pending', '?chainName=eip155%3A1', '?chainName=%E2%82%AC&status=', `?signer=${SIGNER}&lastKey=a%26b`],
];

const bodies: readonly (Pick<CallFacts, 'body' | 'contentType'> & { readonly name: string })[] = [
  { name: 'nothing', body: '' },
  { name: 'no JSON', body: '{' },
  { name: 'null', body: 'null' },
  { name: 'a list', body: '[]' },
  { name: 'unknown fields', body: '{"a":1,"__proto__":{"b":2}}' },
  { name: 'euro signs', body: '{"chainName":"€","action":"€","params":{"signer":"€"}}' },
  { name: 'a byte order mark', body: '\ufeff{}' },
  { name: 'invalid UTF-8', body: Uint8Array.from([0x7b, 0xff, 0xfe, 0x7d]) },
  { name: 'every byte', body: Uint8Array.from({ length: 256 }, (_, byte) => byte), contentType: null },
  { name: 'bytes that say what they are', body: Uint8Array.from([0, 255]), contentType: 'application/octet-stream' },
  { name: 'text', body: '{}', contentType: 'text/plain' },
  { name: 'JSON of another charset', body: '{}', contentType: 'application/json; charset=utf-16' },
  { name: 'a kind of JSON', body: '{}', contentType: 'application/vnd.x+json' },
  { name: 'too much', body: JSON.stringify({ a: 'b'.repeat(5000) }) },
];

const headers: readonly (readonly [string, string])[][] = [
  [['X-Request-Id', 'mine-1']],
  [['X-Request-Id', 'not allowed because of blanks']],
  [['X-Forwarded-For', '203.0.113.7']],
  [['Origin', 'https://app.example.org']],
  [['Cookie', 'a=b; c=d']],
  [
    ['X-Admin-Key', 'one'],
    ['X-Admin-Key', 'two'],
  ],
  [['X-Admin-Key', '']],
  [['X-Admin-Key', '  change-me-admin-key  ']],
  [['Authorization', 'Basic OjpAOg==']],
];

const json = (value: unknown) => JSON.stringify(value);

const plain: readonly CallFacts[] = [
  ...paths.map((target) => ({ target })),
  ...queries.map((query) => ({ target: `/requests${query}` })),
  ...['OPTIONS', 'HEAD', 'PUT', 'DELETE', 'POST'].flatMap((method) =>
    ['/requests', `/requests/${ID}`, '/health', '/nowhere'].map((target) => ({ method, target })),
  ),
  ...['/requests', '/storage/sign', '/admin/relayers'].flatMap((target) =>
    bodies.map((body) => ({ ...body, method: 'POST', target })),
  ),
  ...bodies.map((body) => ({ ...body, method: 'PATCH', target: `/requests/${ID}` })),
  ...headers.map((own) => ({ target: '/admin/relayers', headers: own })),
  { method: 'DELETE', target: '/admin/relayers/0x12', headers: [['X-Admin-Key', 'change-me-admin-key']] },
  { method: 'DELETE', target: '/admin/relayers/%30x12', headers: [['X-Admin-Key', 'change-me-admin-key']] },
  {
    method: 'POST',
    target: '/admin/relayers',
    headers: [['X-Admin-Key', 'change-me-admin-key']],
    body: json({ address: '0x12', label: '€'.repeat(300) }),
  },
  { method: 'POST', target: '/storage/sign', headers: [['Authorization', 'Bearer a.b.c']], body: '{}' },
];

/** Calls of strangers: every route with right and wrong paths, queries, headers and bodies; none changes anything. */
export const ODD_CALLS: readonly HttpCall[] = plain.map(makeCall);
