import type { Examples } from '../document.ts';

/** SHA-256 of the five bytes `hello`. */
const KEY = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824';
const KEY_BASE64 = 'LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=';
const PROJECT = '8f14e45fceea167a5a36dedd4bea2543';
const TENANT = 'ce64bc8a68c748fe81d270e71704881d7b6a3fbd3e188641b34b76672186d39f';
const EXPIRES_SECONDS = 1767225660;
const EXPIRES_AT = new Date(EXPIRES_SECONDS * 1000).toISOString();
const SIGNATURE = 'Qm9vbV9hX3NpZ25hdHVyZV9vZl90aGlydHktdHdvX2I';

/** The path of an example's object below `/objects/`. */
export const EXAMPLE_OBJECT = { tenant: TENANT, projectId: PROJECT, key: KEY } as const;

const OPERATIONS = { put: 'Store it', get: 'Read it', head: 'Ask whether it is there', delete: 'Delete it' } as const;
type Operation = keyof typeof OPERATIONS;

/** Headers that bind a `put` to its content. */
export const BOUND_HEADERS = { 'if-none-match': '*', 'x-amz-checksum-sha256': KEY_BASE64 } as const;

function forEachOperation(makeValue: (operation: Operation) => unknown): Examples {
  // The keys are those of the object above.
  const operations = Object.keys(OPERATIONS) as Operation[];
  return Object.fromEntries(
    operations.map((operation) => [operation, { summary: OPERATIONS[operation], value: makeValue(operation) }]),
  );
}

/** A body of `POST /storage/sign` for each operation. */
export const SIGN_EXAMPLES: Examples = forEachOperation((operation) => ({
  projectId: `0x${PROJECT}`,
  key: `0x${KEY}`,
  operation,
}));

/**
 * What each of them is answered with where objects are local; a bucket's URLs look different, and are used the same way.
 *
 * @param publicUrl - base of the service's own URLs, without a trailing slash
 */
export function createSignedExamples(publicUrl: string): Examples {
  return forEachOperation((operation) => {
    const method = operation.toUpperCase();
    const headers = operation === 'put' ? BOUND_HEADERS : {};
    const signed = operation === 'put' ? '&headers=if-none-match.x-amz-checksum-sha256' : '';
    const query = `expires=${EXPIRES_SECONDS}&method=${method}${signed}&signature=${SIGNATURE}`;
    const url = `${publicUrl}/objects/v1/${TENANT}/${PROJECT}/${KEY}?${query}`;
    return { url, method, headers, expiresAt: EXPIRES_AT };
  });
}
