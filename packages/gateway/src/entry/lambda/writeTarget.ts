/** Paths that stand in a URL as they are; the same set as the Node server's. */
const plainTarget = /^\/[!#$&-;=?-[\]_a-z~]*$/;
const dotSegment = /\/\.\.?(?:[/?#]|$)/;

/** Encodes delimiters that API Gateway has decoded and that would end a path or break an escape. */
function encodeDelimiters(path: string): string {
  return (
    path
      .replaceAll(/%(?![0-9a-fA-F]{2})/g, '%25')
      .replaceAll('?', '%3F')
      .replaceAll('#', '%23')
      .replaceAll('\\', '%5C')
      // A URL parser would drop these without a word.
      .replaceAll(/[\t\n\r]/g, encodeURIComponent)
  );
}

/**
 * Writes path and query of an event as the URL that the Node server would have made of the same call, so that what is routed, and
 * what relayers sign, is the same everywhere.
 *
 * @param path - encoded or decoded; begins with a slash
 * @param query - encoded, without its question mark; may be empty
 * @returns absolute URL of no particular host
 */
export function writeTarget(path: string, query: string): string {
  const target = encodeDelimiters(path) + (query === '' ? '' : `?${query}`);
  const url = `http://function${target}`;
  return plainTarget.test(target) && !dotSegment.test(target) ? url : new URL(url).href;
}
