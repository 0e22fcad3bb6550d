import { sized } from '@prism-gateway/testing/test-size';
import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exchangeBytes } from '../rigs/exchangeBytes.ts';
import { parseAnswers } from '../rigs/parseAnswers.ts';
import { checkAnswer } from './checkAnswer.ts';
import { type FuzzTarget, startFuzzTarget } from './startFuzzTarget.ts';

/** How long this side waits for a word, in milliseconds. */
const GIVE_UP_MS = 100;
const LANES = 32;

const seed = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
let target: FuzzTarget;
beforeAll(async () => {
  target = await startFuzzTarget();
});
afterAll(() => target.gateway.stop());

/** Sends bytes, ends when the server falls silent, and checks every answer. @returns the statuses */
async function report(bytes: Uint8Array | string): Promise<number[]> {
  const sent = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
  const patience = { timeoutMs: TIMEOUT_MS, endAfterMs: GIVE_UP_MS };
  const answers = parseAnswers(await exchangeBytes({ port: target.port, bytes: sent, ...patience }));
  for (const answer of answers) checkAnswer(answer, { secrets: [target.proofs.adminKey] });
  return answers.map(({ status }) => status);
}

const H = 'Host: 127.0.0.1\r\n';
const CLOSE = 'Connection: close\r\n\r\n';
const READ = `GET /health HTTP/1.1\r\n${H}\r\n`;
const post = (framing: string, body: string) => `POST /requests HTTP/1.1\r\n${H}${framing}\r\n\r\n${body}`;

describe('what Node or the listener refuses has the error’s shape too', () => {
  test.each<[string, string, number[]]>([
    ['garbage', '\x00\x01\x02\r\n\r\n', [400]],
    ['a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', [400]],
    ['HTTP/2 without asking', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400]],
    ['HTTP/1.1 without a host', `GET /health HTTP/1.1\r\n${CLOSE}`, [400]],
    ['HTTP/1.0 without a host', 'GET /health HTTP/1.0\r\n\r\n', [200]],
    ['a host with a space', `GET /health HTTP/1.1\r\nHost: a b\r\n${CLOSE}`, [400]],
    ['two hosts', `GET /health HTTP/1.1\r\n${H}${H}${CLOSE}`, [400]],
    [
      'two types of a body',
      post('Content-Length: 2\r\nContent-Type: application/json\r\nContent-Type: text/plain', '{}'),
      [415],
    ],
    [
      'two admin keys',
      `GET /admin/relayers HTTP/1.1\r\n${H}X-Admin-Key: change-me-admin-key\r\nX-Admin-Key: change-me-admin-key\r\n${CLOSE}`,
      [401],
    ],
    ['a header without a colon', `GET /health HTTP/1.1\r\n${H}nonsense\r\n\r\n`, [400]],
    ['a header name with a space', `GET /health HTTP/1.1\r\n${H}a b: c\r\n\r\n`, [400]],
    ['a space before the colon', `GET /health HTTP/1.1\r\n${H}a : c\r\n\r\n`, [400]],
    ['a folded header', `GET /health HTTP/1.1\r\n${H}a: b\r\n c\r\n\r\n`, [400]],
    ['a NUL in a header', `GET /health HTTP/1.1\r\n${H}a: \0\r\n\r\n`, [400]],
    ['an unknown method', `BREW /health HTTP/1.1\r\n${H}\r\n`, [400]],
    ['a method in lower case', `get /health HTTP/1.1\r\n${H}\r\n`, [400]],
    ['headers over the limit', `GET /health HTTP/1.1\r\n${H}a: ${'b'.repeat(20_000)}\r\n\r\n`, [431]],
    ['a path over the limit', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\n${H}\r\n`, [431]],
    ['a length that is no number', post('Content-Length: x', '{}'), [400]],
    ['a negative length', post('Content-Length: -1', '{}'), [400]],
    ['a length beyond all numbers', post(`Content-Length: ${'9'.repeat(30)}`, '{}'), [400]],
    ['two lengths', post('Content-Length: 2\r\nContent-Length: 3', '{}'), [400]],
    ['a length and chunks', post('Content-Length: 2\r\nTransfer-Encoding: chunked', '0\r\n\r\n'), [400]],
    ['a transfer encoding that is unknown', post('Transfer-Encoding: x', '{}'), [400]],
    ['a chunk without a size', post('Transfer-Encoding: chunked', 'zz\r\n{}\r\n0\r\n\r\n'), [400]],
    ['a chunk longer than said', post('Transfer-Encoding: chunked', '1\r\n{}\r\n0\r\n\r\n'), [400]],
    ['a body that ends early', post('Content-Length: 100', '{'), [400]],
    [
      'a body that ends early, for the development issuer',
      `POST /dev/identity/token HTTP/1.1\r\n${H}Content-Length: 100\r\n\r\n{`,
      [400],
    ],
    ['an expectation', `POST /requests HTTP/1.1\r\n${H}Expect: a miracle\r\n${CLOSE}`, [417]],
    ['a question to the whole server', `OPTIONS * HTTP/1.1\r\n${H}${CLOSE}`, [400]],
    ['a whole URL', `GET http://other.example/health HTTP/1.1\r\n${H}${CLOSE}`, [200]],
    ['an upgrade', `GET /health HTTP/1.1\r\n${H}Connection: upgrade\r\nUpgrade: websocket\r\n\r\n`, [200]],
    ['three calls at once', READ.repeat(2) + READ.replace('\r\n\r\n', `\r\n${CLOSE}`), [200, 200, 200]],
    ['a call, then garbage in the same packet', `${READ}\x00\r\n\r\n`, [200]],
    ['a call that closes, then another', `${READ.replace('\r\n\r\n', `\r\n${CLOSE}`)}${READ}`, [200]],
    ['a body that holds a call', `${post(`Content-Length: ${READ.length}`, READ)}`, [400]],
  ])('%s', async (_, text, statuses) => {
    expect(await report(text)).toEqual(statuses);
  });
});

test.each([
  ['nothing', ''],
  ['a line end', '\r\n'],
  ['half a request line', 'GET /hea'],
  ['half a head', `GET /health HTTP/1.1\r\n${H}X-A`],
  ['CONNECT', `CONNECT other.example:443 HTTP/1.1\r\n${H}\r\n`],
])('%s is answered in the error’s shape or not at all', async (_, text) => {
  expect([[], [400], [405]]).toContainEqual(await report(text));
});

/** Whole exchanges, of which the wild ones are made. */
const SEEDS = [
  READ,
  post('Content-Length: 2\r\nContent-Type: application/json', '{}'),
  post('Transfer-Encoding: chunked\r\nTrailer: a', '2\r\n{}\r\n0\r\na: b\r\n\r\n'),
  `PATCH /requests/0197c2a4-5b1e-7c3d-8f60-0242ac120002 HTTP/1.1\r\n${H}X-Relayer-Address: 0x0\r\nContent-Length: 0\r\n\r\n`,
  `OPTIONS /admin/relayers HTTP/1.1\r\n${H}Origin: x\r\nAccess-Control-Request-Method: DELETE\r\n\r\n`,
  `HEAD /docs HTTP/1.0\r\n\r\n${READ}`,
].map((text) => Buffer.from(text, 'latin1'));

/** Bytes that mean something to a parser of HTTP. */
const SHARP = [
  '\r',
  '\n',
  '\0',
  ' ',
  ':',
  '\r\n\r\n',
  '0\r\n\r\n',
  'HTTP/9.9',
  '\x80',
  '%',
  ',',
  ';',
  '-',
  'ffffffffffffffffff',
];

type Edit = readonly [at: number, removed: number, inserted: string];
const edit: fc.Arbitrary<Edit> = fc.tuple(fc.nat(400), fc.nat(6), fc.constantFrom('', ...SHARP));

function applyEdit(bytes: Buffer, [at, removed, inserted]: Edit): Buffer {
  const index = at % (bytes.length + 1);
  return Buffer.concat([bytes.subarray(0, index), Buffer.from(inserted, 'latin1'), bytes.subarray(index + removed)]);
}

const wildBytes = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constantFrom(...SEEDS), fc.array(edit, { minLength: 1, maxLength: 3 })) },
  {
    weight: 1,
    arbitrary: fc.uint8Array({ minLength: 1, maxLength: 400 }).map((noise) => [Buffer.from(noise), []] as const),
  },
);

// Shows HTTP-1.
test(`whatever bytes come, the server answers in shape or closes, and lives (seed ${seed})`, async () => {
  const inputs = fc.sample(wildBytes, { seed, numRuns: sized({ small: 400, long: 5000 }) });
  const left = inputs.map(([bytes, edits]) => edits.reduce(applyEdit, bytes)).values();
  const met = new Set<number>();
  const lane = async () => {
    for (const bytes of left) {
      const statuses = await report(bytes).catch((cause: unknown) => {
        throw new Error(`FUZZ_SEED=${seed}: ${JSON.stringify(bytes.toString('latin1'))}`, { cause });
      });
      for (const status of statuses) met.add(status);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));

  expect([...met]).toEqual(expect.arrayContaining([400, 404]));
  expect(target.gateway.output.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  expect((await fetch(`${target.gateway.url}/ready`)).status).toBe(200);
});
