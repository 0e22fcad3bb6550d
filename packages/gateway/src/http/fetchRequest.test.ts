import { describe, expect, test } from 'vitest';
import { readFetchRequest } from './fetchRequest.ts';

const URL_OF_TEST = 'http://gateway.test/requests';
const bytes = (text: string) => new TextEncoder().encode(text);

const read = (request: Request, maxBytes: number, arrivedBody?: () => Uint8Array | undefined) =>
  readFetchRequest(request, { peerAddress: '', ...(arrivedBody && { arrivedBody }) }).readBody(maxBytes);

function streamed(chunks: readonly string[], headers: Record<string, string> = {}, failure?: Error): Request {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(bytes(chunk));
      if (failure) controller.error(failure);
      else controller.close();
    },
  });
  // Node wants `duplex` for a stream; its own type of RequestInit knows it.
  return new Request(URL_OF_TEST, { method: 'POST', body, headers, duplex: 'half' });
}

const sized = (text: string, length = text.length) => streamed([text], { 'content-length': String(length) });
const codeOf = (code: string) => expect.objectContaining({ code });

describe('reading', () => {
  test('takes a body up to the limit, whole or in chunks', async () => {
    expect(await read(sized('12345'), 5)).toEqual(bytes('12345'));
    expect(Buffer.from(await read(streamed(['12', '', '345']), 5)).toString()).toBe('12345');
    expect(await read(new Request(URL_OF_TEST, { method: 'POST' }), 5)).toHaveLength(0);
  });

  test('takes one that has come in already, up to the limit, and leaves the stream alone', async () => {
    const request = streamed(['another']);
    const arrivedBody = () => bytes('12345');
    expect(await read(request, 5, arrivedBody)).toEqual(bytes('12345'));
    expect(request.bodyUsed).toBe(false);
    expect(() => read(request, 4, arrivedBody)).toThrow(codeOf('BODY_TOO_LARGE'));
    expect(await read(sized('12345'), 5, () => undefined)).toEqual(bytes('12345'));
  });

  test.each([
    ['said to be larger, before it is read', sized('1', 6)],
    ['that turns out larger', streamed(['123', '456'])],
    ['larger than said', sized('123456', 3)],
  ])('refuses a body %s', async (_, request) => {
    await expect(read(request, 5)).rejects.toEqual(codeOf('BODY_TOO_LARGE'));
  });

  test('stops at the limit and reads no further', async () => {
    let pulled = 0;
    const long = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (pulled++ === 1000) return controller.close();
        controller.enqueue(bytes('x'.repeat(100)));
      },
    });
    const request = new Request(URL_OF_TEST, { method: 'POST', body: long, duplex: 'half' });
    await expect(read(request, 1000)).rejects.toEqual(codeOf('BODY_TOO_LARGE'));
    expect(pulled).toBeLessThan(20);
  });

  test.each([
    ['with a length', { 'content-length': '5' }],
    ['in chunks', {}],
  ])('says of a client that went away, %s, that the body ended early', async (_, headers) => {
    const cause = new Error('aborted');
    await expect(read(streamed(['1'], headers, cause), 5)).rejects.toMatchObject({
      status: 400,
      code: 'BODY_INCOMPLETE',
    });
  });
});
