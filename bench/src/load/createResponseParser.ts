import { decodeChunks } from './decodeChunks.ts';

/** Takes the bytes of one connection as they come. */
export interface ResponseParser {
  /** @param bytes valid during this call only */
  push(bytes: Buffer): void;
}

/** Gets each whole answer; `body` is valid during the call only, and empty unless bodies are kept or the status is an error's. */
export type OnAnswer = (status: number, body: Buffer) => void;

const headEnd = Buffer.from('\r\n\r\n');
const noBody = Buffer.alloc(0);

/**
 * Makes a parser that does no more than a load generator needs: the status, the length, and the body when asked.
 * Answers without a length, HEAD and 1xx are not for it.
 *
 * @param params `onAnswer`, and whether it gets the bodies
 * @returns the parser
 */
export function createResponseParser(params: {
  readonly keepBody: boolean;
  readonly onAnswer: OnAnswer;
}): ResponseParser {
  const { keepBody, onAnswer } = params;
  /** Bytes of an answer that has begun and is not whole; kept as long as they may be needed. */
  let held: Buffer = noBody;
  /** Body bytes still to come of an answer whose body is not kept. */
  let toSkip = 0;
  let skippedStatus = 0;

  /** An error's body says what is wrong, so it is kept in any case. */
  const keeps = (status: number) => keepBody || status >= 400;

  function parse(bytes: Buffer): void {
    const headLength = bytes.indexOf(headEnd);
    if (headLength < 0) {
      held = Buffer.from(bytes);
      return;
    }
    const status = readStatus(bytes);
    const bodyStart = headLength + headEnd.length;
    const length = readLength(bytes.toString('latin1', 0, headLength));
    if (length === 'chunked') {
      const body = decodeChunks(bytes.subarray(bodyStart));
      if (body === undefined) held = Buffer.from(bytes);
      else finish(status, body);
      return;
    }
    const missing = length - (bytes.length - bodyStart);
    if (missing < 0) throw new Error('The server sent more than one answer to one request.');
    if (missing === 0) finish(status, bytes.subarray(bodyStart));
    else if (keeps(status)) held = Buffer.from(bytes);
    else [toSkip, skippedStatus, held] = [missing, status, noBody];
  }

  function finish(status: number, body: Buffer): void {
    held = noBody;
    onAnswer(status, keeps(status) ? body : noBody);
  }

  return {
    push(bytes) {
      if (toSkip === 0) {
        parse(held.length === 0 ? bytes : Buffer.concat([held, bytes]));
        return;
      }
      toSkip -= bytes.length;
      if (toSkip < 0) throw new Error('The server sent more than one answer to one request.');
      if (toSkip === 0) onAnswer(skippedStatus, noBody);
    },
  };
}

/** `HTTP/1.1 200 …`: the three digits at 9. */
function readStatus(bytes: Buffer): number {
  const digits = bytes.toString('latin1', 9, 12);
  if (!/^[2-5]\d\d$/.test(digits)) throw new Error(`This is no HTTP answer: ${bytes.toString('latin1', 0, 40)}`);
  return Number(digits);
}

function readLength(head: string): number | 'chunked' {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) return Number(length);
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) return 'chunked';
  throw new Error(`An answer without a length cannot be measured:\n${head}`);
}
