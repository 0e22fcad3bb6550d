import type { ObjectFacts } from './diskFiles.ts';

/**
 * Evaluates the conditions of a read, in the order of RFC 9110.
 *
 * @param headers the request's headers
 * @param facts the object as it stands
 * @returns what to answer: the object, 304 (`unchanged`) or 412 (`failed`)
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-13.2.2
 */
export function checkConditions(headers: Headers, facts: ObjectFacts): 'met' | 'unchanged' | 'failed' {
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
 *
 * @param headers the request's headers
 * @param facts the object as it stands
 * @returns false when the whole object must be sent
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-13.1.5
 */
export function isRangeInForce(headers: Headers, facts: ObjectFacts): boolean {
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
