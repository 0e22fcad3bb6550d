import type { IncomingMessage } from 'node:http';
import type { ByteBudget } from '../http/createByteBudget.ts';
import { bodyIncomplete, bodyTooLarge, overloaded } from '../http/errors.ts';

interface BodyBounds {
  /** Most bytes of this body. */
  readonly maxBytes: number;
  /** What all bodies under way share. */
  readonly budget: ByteBudget;
}

/** Pieces that are joined as they come: kept each by itself, a piece of one byte would cost some hundred. */
interface JoinedPieces {
  /** Bytes of all pieces. */
  length(): number;
  /** @returns how many more bytes of memory are held */
  add(piece: Uint8Array): number;
  whole(): Uint8Array;
  drop(): void;
}

/** @param maxBytes - of all pieces, which nobody adds more than */
function joinPieces(maxBytes: number): JoinedPieces {
  let bytes = new Uint8Array(0);
  let length = 0;
  return {
    length: () => length,
    add(piece) {
      const before = bytes.byteLength;
      const wanted = length + piece.byteLength;
      if (wanted > before) {
        // Twice as much each time, so that few are copied.
        const larger = new Uint8Array(Math.max(wanted, Math.min(2 * before, maxBytes)));
        larger.set(bytes.subarray(0, length));
        bytes = larger;
      }
      bytes.set(piece, length);
      length = wanted;
      return bytes.byteLength - before;
    },
    whole: () => bytes.subarray(0, length),
    drop() {
      bytes = new Uint8Array(0);
    },
  };
}

/**
 * Gathers a body as it comes in.
 *
 * @throws ApiError BODY_TOO_LARGE, BODY_INCOMPLETE, OVERLOADED
 */
export function gatherBody(incoming: IncomingMessage, { maxBytes, budget }: BodyBounds): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const joined = joinPieces(maxBytes);
    const leave = () => {
      hold.release();
      incoming.off('data', take).off('end', finish).off('error', breakOff).off('close', breakOff);
    };
    const refuse = (error: Error) => {
      leave();
      joined.drop();
      // What still comes is dropped, so that the connection can go on to the next request or to its end.
      incoming.on('error', () => undefined).resume();
      reject(error);
    };
    const hold = budget.open(() => refuse(overloaded()));
    const take = (piece: Uint8Array) => {
      if (joined.length() + piece.byteLength > maxBytes) return refuse(bodyTooLarge(maxBytes));
      return hold.grow(joined.add(piece));
    };
    const finish = () => {
      leave();
      resolve(joined.whole());
    };
    const breakOff = (cause?: Error) => refuse(bodyIncomplete(cause ?? new Error('The client went away.')));
    if (incoming.destroyed) return breakOff(incoming.errored ?? undefined);
    incoming.on('data', take).on('end', finish).on('error', breakOff).on('close', breakOff);
  });
}
