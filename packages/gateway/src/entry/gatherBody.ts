import type { IncomingMessage } from 'node:http';
import type { ByteBudget } from '../http/createByteBudget.ts';
import { bodyIncomplete, bodyTooLarge, overloaded } from '../http/errors.ts';

interface BodyBounds {
  /** Most bytes of this body. */
  readonly maxBytes: number;
  /** What all bodies under way share. */
  readonly budget: ByteBudget;
}

/** Joins pieces as they come: kept each by itself, a piece of one byte would cost some hundred. */
class Joined {
  readonly #maxBytes: number;
  #bytes: Uint8Array = new Uint8Array(0);
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get length(): number {
    return this.#length;
  }

  /** @returns how many more bytes of memory are held */
  add(piece: Uint8Array): number {
    const before = this.#bytes.byteLength;
    const length = this.#length + piece.byteLength;
    if (length > before) {
      // Twice as much each time, so that few are copied.
      const larger = new Uint8Array(Math.max(length, Math.min(2 * before, this.#maxBytes)));
      larger.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = larger;
    }
    this.#bytes.set(piece, this.#length);
    this.#length = length;
    return this.#bytes.byteLength - before;
  }

  whole(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  drop(): void {
    this.#bytes = new Uint8Array(0);
  }
}

/**
 * Gathers a body as it comes in.
 *
 * @throws ApiError BODY_TOO_LARGE, BODY_INCOMPLETE, OVERLOADED
 */
export function gatherBody(incoming: IncomingMessage, { maxBytes, budget }: BodyBounds): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const joined = new Joined(maxBytes);
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
      if (joined.length + piece.byteLength > maxBytes) return refuse(bodyTooLarge(maxBytes));
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
