import type { IncomingMessage } from 'node:http';

/** Bytes of a text beside its characters. Measured: a hundred for a name and its value. */
const TEXT_BYTES = 48;

/** How much memory the head of a request takes. @returns bytes */
export function countHeadBytes({ rawHeaders }: IncomingMessage): number {
  let bytes = 0;
  for (const text of rawHeaders) bytes += TEXT_BYTES + text.length;
  return bytes;
}
