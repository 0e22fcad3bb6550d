import fc from 'fast-check';
import { expect, it } from 'vitest';
import { writeResult } from './writeResult.ts';

it('writes JSON as text, with status and headers', async () => {
  const response = new Response('{"a":"€"}', {
    status: 201,
    headers: { 'Content-Type': 'application/json', 'X-A': 'b' },
  });
  expect(await writeResult(response)).toEqual({
    statusCode: 201,
    headers: { 'content-type': 'application/json', 'x-a': 'b' },
    body: '{"a":"€"}',
    isBase64Encoded: false,
  });
});

it.each(['text/html; charset=utf-8', 'application/problem+json', 'TEXT/PLAIN'])('writes %s as text', async (type) => {
  expect(await writeResult(new Response('a', { headers: { 'content-type': type } }))).toMatchObject({ body: 'a' });
});

it('writes an answer without a body', async () => {
  expect(await writeResult(new Response(null, { status: 204 }))).toMatchObject({ statusCode: 204, body: '' });
});

it.each(['image/png', 'application/octet-stream', 'application/jsonish'])('keeps every byte of %s', async (type) => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array(), async (bytes) => {
      const headers = { 'content-type': type };
      const result = await writeResult(new Response(new Uint8Array(bytes), { headers }));
      expect(result.isBase64Encoded).toBe(true);
      expect(Buffer.from(result.body, 'base64').compare(bytes)).toBe(0);
    }),
  );
});

it('keeps every byte of compressed JSON', async () => {
  const bytes = new Uint8Array([0x1f, 0x8b, 0x08, 0xff]);
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
  const result = await writeResult(new Response(bytes, { headers }));
  expect([result.isBase64Encoded, [...Buffer.from(result.body, 'base64')]]).toEqual([true, [...bytes]]);
});
