import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { ObjectRefusedError } from './objectRefusedError.ts';

/** The body of a put, within its limit. */
export interface UploadBody {
  /**
   * Reads on from where the last reading stopped, to the end.
   *
   * @throws ObjectRefusedError (`OBJECT_TOO_LARGE`, `OBJECT_UPLOAD_INCOMPLETE`)
   */
  read(): AsyncGenerator<Uint8Array>;
}

/**
 * Opens the body of a put; nothing is read yet.
 *
 * @param request the put
 * @param maxBytes most bytes that it may have; a declared length above it is refused before the first byte
 * @returns the body
 */
export function openBody(request: Request, maxBytes: number): UploadBody {
  const declared = parseLength(request.headers.get('content-length'));
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  let received = 0;
  return {
    async *read() {
      if ((declared ?? 0) > maxBytes) throw new ObjectRefusedError('OBJECT_TOO_LARGE');
      reader ??= request.body?.getReader();
      for (let chunk = await readChunk(reader); chunk !== undefined; chunk = await readChunk(reader)) {
        received += chunk.byteLength;
        if (received > maxBytes) throw new ObjectRefusedError('OBJECT_TOO_LARGE');
        yield chunk;
      }
      if (declared !== undefined && received !== declared) throw new ObjectRefusedError('OBJECT_UPLOAD_INCOMPLETE');
    },
  };
}

/**
 * Writes a body into a file while hashing it, in constant memory.
 *
 * @param body the body, not yet read
 * @param handle empty file, open for writing
 * @returns base64 of the SHA-256 of what was written
 * @throws ObjectRefusedError (`OBJECT_TOO_LARGE`, `OBJECT_UPLOAD_INCOMPLETE`)
 * @throws the file system's own errors
 */
export async function receiveBody(body: UploadBody, handle: FileHandle): Promise<string> {
  const sha256 = createHash('sha256');
  const hashed = async function* () {
    for await (const chunk of body.read()) {
      sha256.update(chunk);
      yield chunk;
    }
  };
  await handle.writeFile(hashed());
  return sha256.digest('base64');
}

/**
 * Reads what is left of a body, within its limit, and forgets it: a client that is still sending would see the connection
 * break rather than the answer.
 *
 * @param body the body, read to any point
 */
export async function discardBody(body: UploadBody): Promise<void> {
  try {
    for await (const _ of body.read());
  } catch {
    // Too large, or the client went away: there is nobody left to be polite to.
  }
}

/** A stream that fails is a client that went away. */
async function readChunk(reader: ReadableStreamDefaultReader<Uint8Array> | undefined): Promise<Uint8Array | undefined> {
  try {
    return (await reader?.read())?.value;
  } catch (cause) {
    throw new ObjectRefusedError('OBJECT_UPLOAD_INCOMPLETE', { cause });
  }
}

function parseLength(header: string | null): number | undefined {
  return header === null ? undefined : Number(header);
}
