import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { ObjectRefusedError } from './objectRefusedError.ts';

/** The least that an upload has to bring: the least bytes of each window, of which the last may have fewer. */
export interface UploadPace {
  readonly windowMs: number;
  readonly windowBytes: number;
}

/** 16 kB a second over 30 s: a slow line has it, and who only holds a connection has not. */
const LEAST_PACE: UploadPace = { windowMs: 30_000, windowBytes: 30 * 16 * 1024 };

/** The body of a put, within its limit. */
export interface UploadBody {
  /**
   * Reads on from where the last reading stopped, to the end.
   *
   * @throws ObjectRefusedError (`OBJECT_TOO_LARGE`, `OBJECT_TOO_SLOW`, `OBJECT_UPLOAD_INCOMPLETE`)
   */
  read(): AsyncGenerator<Uint8Array>;
}

/** Nobody waits for the rest. */
const tooSlow = () => new ObjectRefusedError('OBJECT_TOO_SLOW', { headers: { connection: 'close' } });

/** Watches the pace of an upload. */
interface PaceWatch {
  /** Waits for the next piece. @throws ObjectRefusedError once a window has brought too little */
  next<T>(piece: Promise<T>): Promise<T>;
  isTooSlow(): boolean;
  stop(): void;
}

/** A promise for the whole upload, raced with each piece, would keep all pieces in memory: each has a promise of its own. */
function watchPace({ windowMs, windowBytes }: UploadPace, received: () => number): PaceWatch {
  let [before, isTooSlow] = [received(), false];
  let fail: (error: Error) => void = () => undefined;
  const timer = setInterval(() => {
    isTooSlow ||= received() - before < windowBytes;
    before = received();
    if (isTooSlow) fail(tooSlow());
  }, windowMs);
  return {
    next: (piece) =>
      new Promise((resolve, reject) => {
        fail = reject;
        piece.then(resolve, reject);
        if (isTooSlow) reject(tooSlow());
      }),
    isTooSlow: () => isTooSlow,
    stop: () => clearInterval(timer),
  };
}

interface BodyLimits {
  /** Most bytes that it may have; a declared length above it is refused before the first byte. */
  readonly maxBytes: number;
  readonly pace?: UploadPace;
  /** Takes room for bytes that have come, and before the first of them for none. @throws ObjectRefusedError if there is none */
  readonly takeRoom?: (bytes: number) => void;
}

/**
 * Opens the body of a put; nothing is read yet.
 *
 * @param request the put
 * @param limits how large it may be, and how slow
 * @returns the body
 * @see docs/specification.md OBJECT-13
 */
export function openBody(request: Request, { maxBytes, pace = LEAST_PACE, takeRoom }: BodyLimits): UploadBody {
  const declared = parseLength(request.headers.get('content-length'));
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  let received = 0;
  let wasTooSlow = false;
  let isRefused = false;

  /** The rest of a refused body is read and dropped. */
  function makeRoom(bytes: number): void {
    try {
      takeRoom?.(bytes);
    } catch (error) {
      isRefused = true;
      throw error;
    }
  }

  return {
    async *read() {
      if (wasTooSlow) throw tooSlow();
      if ((declared ?? 0) > maxBytes) throw new ObjectRefusedError('OBJECT_TOO_LARGE');
      reader ??= request.body?.getReader();
      if (!isRefused) makeRoom(0);
      const watch = watchPace(pace, () => received);
      const readNext = () => watch.next(readChunk(reader));
      try {
        for (let chunk = await readNext(); chunk !== undefined; chunk = await readNext()) {
          received += chunk.byteLength;
          if (received > maxBytes) throw new ObjectRefusedError('OBJECT_TOO_LARGE');
          if (!isRefused) makeRoom(chunk.byteLength);
          yield chunk;
        }
      } finally {
        watch.stop();
        wasTooSlow = watch.isTooSlow();
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
