import { expect, test } from 'vitest';
import { createResponseParser } from './createResponseParser.ts';

function collect(keepBody: boolean) {
  const answers: [number, string][] = [];
  const parser = createResponseParser({
    keepBody,
    onAnswer: (status, body) => answers.push([status, body.toString()]),
  });
  return { answers, push: (text: string) => parser.push(Buffer.from(text)) };
}

const sized = 'HTTP/1.1 201 Created\r\nContent-Type: text/plain\r\ncontent-length: 5\r\n\r\nhello';
const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\nA\r\nlo, world!\r\n0\r\n\r\n';

test.for([
  [sized, 201, 'hello'],
  [chunked, 200, 'hello, world!'],
] as const)('reads an answer that comes in two pieces, cut anywhere', ([text, status, body]) => {
  for (let cut = 1; cut < text.length; cut += 1) {
    const { answers, push } = collect(true);
    push(text.slice(0, cut));
    expect(answers).toEqual([]);
    push(text.slice(cut));
    push(text);
    expect(answers).toEqual([
      [status, body],
      [status, body],
    ]);
  }
});

test('counts answers whose bodies nobody wants, byte by byte', () => {
  const { answers, push } = collect(false);
  for (const byte of sized + sized) push(byte);
  expect(answers).toEqual([
    [201, ''],
    [201, ''],
  ]);
});

test('keeps the body of an error in any case', () => {
  const { answers, push } = collect(false);
  push('HTTP/1.1 409 Conflict\r\nContent-Length: 4\r\n\r\nta');
  push('ke');
  expect(answers).toEqual([[409, 'take']]);
});

test('refuses what it cannot count', () => {
  expect(() => collect(false).push('HTTP/1.1 200 OK\r\n\r\n')).toThrow('without a length');
  expect(() => collect(false).push('SSH-2.0-x\r\n\r\n')).toThrow('no HTTP answer');
  expect(() => collect(false).push(`${sized}HTTP/1.1`)).toThrow('more than one answer');
});
