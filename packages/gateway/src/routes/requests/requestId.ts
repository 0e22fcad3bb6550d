import { type Parsed, parseWith, requestIdFormat } from '@prism-gateway/protocol';
import type { Call } from '../../http/call.ts';

/** Reads the path's request id: a UUID, in lower case, the form in which ids are made and kept. */
export function parseRequestId(call: Call): Parsed<string> {
  const parsed = parseWith(requestIdFormat, call.params.requestId);
  if ('value' in parsed) return { value: parsed.value.toLowerCase() };
  return { faults: parsed.faults.map(({ message }) => ({ path: 'requestId', message })) };
}
