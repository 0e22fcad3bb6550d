import type { FileHandle } from 'node:fs/promises';

/** Part of an object, in bytes; `end` is the first byte after it. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

const RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/;

/**
 * Reads a `Range` header of one range.
 *
 * @param header the header's value, or null
 * @param size size of the object in bytes
 * @returns the range; `whole` when the header asks for none, or for something this server may ignore (several ranges,
 * other units, bad syntax); `unsatisfiable` when no byte of the object is in it
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-14.2
 */
export function parseRange(header: string | null, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  const [, first, last] = RANGE.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return 'whole';
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return 'whole';
  if (start >= size) return 'unsatisfiable';
  return { start, end: last === '' ? size : Math.min(Number(last) + 1, size) };
}

/** Twice as much is a fifth faster, and lets 10 MB more of garbage stand. */
const CHUNK_BYTES = 65_536;

/**
 * Streams part of a file as fast as its reader takes it, and closes the file: at the end, on failure, when the reader
 * cancels, or when the request is aborted.
 *
 * @param handle open file; owned by the stream from here on
 * @param options the bytes to send, at least one, and the signal that ends with the request
 * @returns the stream
 */
export function streamFile(
  handle: FileHandle,
  { range, signal }: { range: ByteRange; signal: AbortSignal },
): ReadableStream<Uint8Array> {
  let position = range.start;
  const close = () => {
    signal.removeEventListener('abort', close);
    // Closing twice is no fault; a failing close loses nothing that was read.
    return handle.close().catch(() => undefined);
  };
  signal.addEventListener('abort', close);
  // An aborted signal calls nobody any more.
  if (signal.aborted) void close();

  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const chunk = await readChunk(handle, { start: position, end: range.end });
        position += chunk.byteLength;
        controller.enqueue(chunk);
        if (position < range.end) return;
        await close();
        controller.close();
      } catch (error) {
        await close();
        throw error;
      }
    },
    cancel: close,
  });
}

async function readChunk(handle: FileHandle, { start, end }: ByteRange): Promise<Uint8Array> {
  const length = Math.min(CHUNK_BYTES, end - start);
  // A buffer of its own: its reader keeps it until the socket has taken it.
  const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafeSlow(length), 0, length, start);
  if (bytesRead === 0) throw new Error('The file ended before its size.');
  return buffer.subarray(0, bytesRead);
}
