import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createRequest, Headers as LightHeaders, Response as LightResponse } from './lightFetch.ts';
import { writeResult } from './writeResult.ts';

const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,10}$/);
const value = fc.stringMatching(/^[ -~]{0,12}$/);
const pairs = fc.array(fc.tuple(name, value));

it('keeps header fields as the platform does', () => {
  fc.assert(
    fc.property(pairs, name, (fields, asked) => {
      const platform = new Headers(fields);
      const light = new LightHeaders(fields);
      expect(Object.fromEntries(light)).toEqual(Object.fromEntries(platform));
      expect(light.get(asked)).toBe(platform.get(asked));
      expect(light.has(asked)).toBe(platform.has(asked));
    }),
    {
      examples: [
        [
          [
            ['w', ''],
            ['W', ''],
          ],
          'w',
        ],
      ],
    },
  );
});

it('makes the same answer as the platform', async () => {
  const body = fc.oneof(
    fc.string(),
    fc.uint8Array().map((bytes) => new Uint8Array(bytes)),
    fc.constant(null),
  );
  const headers = fc.dictionary(name, value).map((fields) => ({ 'content-type': 'application/json', ...fields }));
  await fc.assert(
    fc.asyncProperty(body, headers, async (content, fields) => {
      const init = { status: 200, headers: fields };
      // What the bundle puts in the place of the one is the other.
      const light = new LightResponse(content, init) as unknown as Response;
      expect(await writeResult(light)).toEqual(await writeResult(new Response(content, init)));
    }),
  );
});

it('copies status and headers of another answer', async () => {
  const copy = new LightResponse(null, new LightResponse('body', { status: 404, headers: { a: 'b' } }));
  expect([copy.status, copy.headers.get('A'), await copy.text()]).toEqual([404, 'b', '']);
});

it('makes a request of method, URL and headers', () => {
  const request = createRequest({ method: 'POST', url: 'http://function/', headers: [['Content-Type', 'a/b']] });
  expect([request.method, request.url, request.headers.get('content-type')]).toEqual([
    'POST',
    'http://function/',
    'a/b',
  ]);
});
