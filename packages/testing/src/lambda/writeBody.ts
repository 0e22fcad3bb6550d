import type { HttpCall } from './httpCall.ts';

const textType = /^(?:text\/|application\/(?:json|javascript|xml))/;

function decodeText(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}

/** Writes a body as API Gateway does: text if its type says that it is text and it is, else base64. */
export function writeBody({ body, headers }: HttpCall): { body?: string; isBase64Encoded: boolean } {
  if (body.byteLength === 0) return { isBase64Encoded: false };
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  const text = textType.test(type) ? decodeText(body) : undefined;
  if (text !== undefined) return { body: text, isBase64Encoded: false };
  return { body: Buffer.from(body).toString('base64'), isBase64Encoded: true };
}
