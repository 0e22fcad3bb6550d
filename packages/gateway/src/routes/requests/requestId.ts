import { type Parsed, parseWith, requestIdFormat } from '@prism-gateway/protocol';
import type { HttpRequest } from '../../http/request.ts';

/** The form of the ids that this service makes, which needs no second look. */
const ownForm = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Reads the path's request id: a UUID, in lower case, the form in which ids are made and kept. */
export function parseRequestId(request: HttpRequest): Parsed<string> {
  const { requestId } = request.params;
  if (requestId !== undefined && ownForm.test(requestId)) return { value: requestId };
  const parsed = parseWith(requestIdFormat, requestId);
  if ('value' in parsed) return { value: parsed.value.toLowerCase() };
  return { faults: parsed.faults.map(({ message }) => ({ path: 'requestId', message })) };
}
