import { hasErrorCode } from './hasErrorCode.ts';
import { RefusalError } from './refusalError.ts';

/** Tokens are the largest thing sent here, and they end at 16 kB. */
const MAX_BODY_BYTES = 64 * 1024;

async function readBounded(body: AsyncIterable<Uint8Array>): Promise<string> {
  // Invalid UTF-8 and a byte order mark are faults, as in the rest of the API.
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let text = '';
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > MAX_BODY_BYTES)
      throw new RefusalError(`The body is larger than ${MAX_BODY_BYTES} bytes.`, { status: 413 });
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/**
 * Reads a small text body of one content type; a body without a content type is taken for it.
 *
 * @param request - the HTTP request
 * @param contentType - like `application/json`
 * @returns the body's text
 * @throws RefusalError 413, 415, or 400 for text that is not UTF-8
 */
export async function readBody(request: Request, contentType: string): Promise<string> {
  const given = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  // fetch writes text/plain by itself where the caller said nothing; that is still something said.
  if (given !== undefined && given !== contentType)
    throw new RefusalError(`The body must be ${contentType}.`, { status: 415 });
  if (request.body === null) return '';
  try {
    return await readBounded(request.body);
  } catch (error) {
    if (hasErrorCode(error, ['ERR_ENCODING_INVALID_ENCODED_DATA']))
      throw new RefusalError('The body is not valid UTF-8.', { status: 400 });
    throw error;
  }
}
