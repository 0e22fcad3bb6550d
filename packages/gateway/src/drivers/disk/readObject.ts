import { type FileHandle, open } from 'node:fs/promises';
import { type DiskFiles, type ObjectFacts, readFacts } from './diskFiles.ts';
import { ObjectRefusedError } from './objectRefusedError.ts';
import { type ByteRange, parseRange, streamFile } from './streamFile.ts';

/** Evaluates the conditions of a read, in the order of RFC 9110. @see https://www.rfc-editor.org/rfc/rfc9110#section-13.2.2 */
function checkConditions(headers: Headers, facts: ObjectFacts): 'met' | 'unchanged' | 'failed' {
  const ifMatch = headers.get('if-match');
  if (ifMatch !== null) {
    if (!listsTag(ifMatch, [facts.etag, '*'])) return 'failed';
  } else if (isChangedSince(headers.get('if-unmodified-since'), facts) === true) return 'failed';

  const ifNoneMatch = headers.get('if-none-match');
  if (ifNoneMatch !== null) return listsTag(ifNoneMatch, [facts.etag, `W/${facts.etag}`, '*']) ? 'unchanged' : 'met';
  return isChangedSince(headers.get('if-modified-since'), facts) === false ? 'unchanged' : 'met';
}

/**
 * Says whether a `Range` counts: `If-Range` makes it depend on the object's being the same as when it was begun.
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-13.1.5
 */
function isRangeInForce(headers: Headers, facts: ObjectFacts): boolean {
  const ifRange = headers.get('if-range');
  return ifRange === null || ifRange === facts.etag;
}

function listsTag(list: string, tags: readonly string[]): boolean {
  return list.split(',').some((entry) => tags.includes(entry.trim()));
}

/** @returns undefined when there is no date to compare with */
function isChangedSince(date: string | null, facts: ObjectFacts): boolean | undefined {
  const sinceMs = date === null ? Number.NaN : Date.parse(date);
  // HTTP dates know whole seconds.
  return Number.isNaN(sinceMs) ? undefined : Math.floor(facts.lastModifiedMs / 1000) * 1000 > sinceMs;
}

/** An answer that is not yet a `Response`: the headers common to all answers are missing. */
export interface ObjectAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ReadableStream<Uint8Array> | null;
}

/**
 * Answers a `get` or `head`: the object as a download, whole or in part, or 304.
 *
 * @param files where objects lie
 * @param order path of the object, and the request that asks for it
 * @returns the answer; its body owns the open file
 * @throws ObjectRefusedError (`OBJECT_NOT_FOUND`, `OBJECT_PRECONDITION_FAILED`, `OBJECT_RANGE_UNSATISFIABLE`)
 * @throws the file system's own errors
 */
export async function readObject(
  files: DiskFiles,
  { objectPath, request }: { objectPath: string; request: Request },
): Promise<ObjectAnswer> {
  const handle = await openObject(files.findPath(objectPath));
  let body: ReadableStream<Uint8Array> | null = null;
  try {
    const facts = await readFacts(handle);
    const answer = describeAnswer(request, facts);
    if (answer.range !== undefined) body = streamFile(handle, { range: answer.range, signal: request.signal });
    return { status: answer.status, headers: answer.headers, body };
  } finally {
    if (body === null) await handle.close();
  }
}

async function openObject(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      throw new ObjectRefusedError('OBJECT_NOT_FOUND');
    }
    throw error;
  }
}

/** `range` is absent if no byte is to be sent. */
interface DescribedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly range?: ByteRange;
}

function describeAnswer({ method, headers }: Request, facts: ObjectFacts): DescribedAnswer {
  const validators = { etag: facts.etag, 'last-modified': new Date(facts.lastModifiedMs).toUTCString() };
  const outcome = checkConditions(headers, facts);
  if (outcome === 'failed') throw new ObjectRefusedError('OBJECT_PRECONDITION_FAILED');
  if (outcome === 'unchanged') return { status: 304, headers: validators };

  // A range means nothing to HEAD (RFC 9110, section 14.2).
  const isRanged = method === 'GET' && isRangeInForce(headers, facts);
  const range = isRanged ? parseRange(headers.get('range'), facts.size) : 'whole';
  if (range === 'unsatisfiable') {
    throw new ObjectRefusedError('OBJECT_RANGE_UNSATISFIABLE', {
      headers: { 'content-range': `bytes */${facts.size}` },
    });
  }
  const { start, end } = range === 'whole' ? { start: 0, end: facts.size } : range;
  const described = {
    status: range === 'whole' ? 200 : 206,
    headers: {
      ...validators,
      'accept-ranges': 'bytes',
      'content-disposition': 'attachment',
      'content-length': String(end - start),
      'content-type': 'application/octet-stream',
      ...(range === 'whole' ? {} : { 'content-range': `bytes ${start}-${end - 1}/${facts.size}` }),
    },
  };
  return method === 'HEAD' || start === end ? described : { ...described, range: { start, end } };
}
