/** An HTTP answer as it came over the wire. */
export interface WireAnswer {
  readonly status: number;
  /** By lower-case name; of equal names, the last. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Taken {
  readonly body: Buffer;
  readonly rest: Buffer;
}

function takeChunks(bytes: Buffer): Taken {
  const parts: Buffer[] = [];
  let rest = bytes;
  for (;;) {
    const lineEnd = rest.indexOf('\r\n');
    if (lineEnd === -1) throw new Error(`A chunk without a size: ${rest.toString('latin1', 0, 40)}`);
    const size = Number.parseInt(rest.toString('latin1', 0, lineEnd), 16);
    parts.push(rest.subarray(lineEnd + 2, lineEnd + 2 + size));
    rest = rest.subarray(lineEnd + 4 + size);
    if (size === 0) return { body: Buffer.concat(parts), rest };
  }
}

function takeBody(bytes: Buffer, headers: Readonly<Record<string, string>>): Taken {
  // An answer to HEAD names a length and has no body.
  const isBare = bytes.length === 0 || bytes.toString('latin1', 0, 9) === 'HTTP/1.1 ';
  if (isBare) return { body: Buffer.alloc(0), rest: bytes };
  if (headers['transfer-encoding'] === 'chunked') return takeChunks(bytes);
  const length = Number(headers['content-length'] ?? bytes.length);
  if (bytes.length < length) throw new Error(`A body of ${bytes.length} bytes that was said to have ${length}`);
  return { body: bytes.subarray(0, length), rest: bytes.subarray(length) };
}

/**
 * Parses everything that a server said on one connection.
 *
 * @throws Error when it is not a sequence of whole HTTP answers
 */
export function parseAnswers(said: Buffer): WireAnswer[] {
  const answers: WireAnswer[] = [];
  let rest = said;
  while (rest.length > 0) {
    const headEnd = rest.indexOf('\r\n\r\n');
    const [statusLine = '', ...lines] = rest.toString('latin1', 0, headEnd === -1 ? undefined : headEnd).split('\r\n');
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1];
    if (headEnd === -1 || status === undefined) throw new Error(`This is no HTTP answer: ${statusLine}`);
    const headers = Object.fromEntries(
      lines.map((line) => {
        const [name = '', ...value] = line.split(':');
        return [name.toLowerCase(), value.join(':').trim()];
      }),
    );
    const taken = takeBody(rest.subarray(headEnd + 4), headers);
    rest = taken.rest;
    if (status !== '100') answers.push({ status: Number(status), headers, body: taken.body.toString() });
  }
  return answers;
}
