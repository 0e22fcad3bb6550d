/** One HTTP/1.1 call to be written. */
export interface HttpCall {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Header lines, each ended by CR LF. */
  readonly headerLines?: string;
  /** JSON text, ASCII only. */
  readonly body?: string;
}

/**
 * Writes a call as the bytes that go over a keep-alive connection.
 *
 * @param call what to ask
 * @returns head and body in one buffer
 * @see RFC 9112
 */
export function writeHttp(call: HttpCall): Buffer {
  const { method, target, headerLines = '', body } = call;
  const start = `${method} ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headerLines}`;
  if (body === undefined) return Buffer.from(`${start}\r\n`, 'latin1');
  return Buffer.from(
    `${start}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    'latin1',
  );
}
