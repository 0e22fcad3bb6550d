const marker = Buffer.from('"requestId":"');
const uuidLength = 36;

/**
 * Finds the id in the JSON of a request record, without parsing the rest.
 *
 * @param body JSON of one record
 * @returns the UUID
 * @throws Error when there is none
 */
export function readRequestId(body: Buffer): string {
  const at = body.indexOf(marker);
  if (at < 0) throw new Error(`No requestId in ${body.toString('utf8')}`);
  const start = at + marker.length;
  return body.toString('latin1', start, start + uuidLength);
}
