import type { IncomingMessage } from 'node:http';
import { type Refusal, refuseRequest } from './transport.ts';

/** Fewest bytes of a piece, on average: a client that writes JSON name by name sends more. */
const LEAST_BYTES = 16;
/** So many pieces may be smaller. */
const SMALL_PIECES = 512;

const tooManyPieces: Refusal = {
  status: 413,
  reason: 'Content Too Large',
  message: `The body comes in too many pieces: send chunks of at least ${LEAST_BYTES} bytes.`,
};

/**
 * Refuses a body whose chunks are tiny. Each piece is a call of the parser's and a buffer of some hundred bytes, whoever reads it, also
 * where nobody does: a megabyte of chunks of one byte took as long as ten thousand usual calls.
 *
 * @param incoming - of which nothing was read yet
 * @see docs/specification.md LIMIT-18
 */
export function boundPieces(incoming: IncomingMessage): void {
  if (incoming.headers['transfer-encoding'] === undefined) return;
  const push = incoming.push.bind(incoming);
  let left = SMALL_PIECES * LEAST_BYTES;
  let isRefused = false;
  // The parser hands each piece to it.
  incoming.push = (piece: Uint8Array | null, encoding?: BufferEncoding) => {
    if (isRefused) return false;
    left += (piece?.byteLength ?? LEAST_BYTES) - LEAST_BYTES;
    if (left >= 0) return push(piece, encoding);
    isRefused = true;
    refuseRequest(incoming, tooManyPieces);
    return false;
  };
}
