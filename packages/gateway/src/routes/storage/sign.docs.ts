import { parseWith, signStorageSchema } from '@prism-gateway/protocol';
import { dependencyUnavailable, unauthenticated } from '../../http/errors.ts';
import type { RouteDescription } from '../../openapi/describeRoute.ts';
import type { Examples } from '../../openapi/document.ts';
import { bodyFaultsExample, errorExample } from '../../openapi/examples/failures.ts';
import { createSignedExamples, SIGN_EXAMPLES } from '../../openapi/examples/successes.ts';
import { jsonBody } from '../../openapi/parts/parameters.ts';
import { TAGS } from '../../openapi/text/descriptions.ts';

function invalidExamples(): Examples {
  const refused = (summary: string, text: string) =>
    bodyFaultsExample(summary, text, (json) => parseWith(signStorageSchema, json));
  return {
    everyFault: refused('Several faults, each named', '{"projectId":"0x12","operation":"list","path":"/etc"}'),
    empty: refused('No body', ''),
  };
}

const rejected = (summary: string, sentence: string) =>
  errorExample(summary, unauthenticated('TOKEN_REJECTED', sentence));

/** As `auth/identity.ts` and the token verifiers write them. */
const TOKEN_FAILURES: Examples = {
  missing: rejected('No token', 'The Authorization header is missing; send Bearer and an access token.'),
  expired: rejected('A token that has expired', 'The access token has expired.'),
  revoked: rejected('A token that was revoked', 'The access token was revoked.'),
  malformed: rejected('Not a token', 'The Authorization header is not Bearer and an access token.'),
};

const OUTAGES: Examples = {
  identityProvider: errorExample(
    'The identity provider does not answer',
    dependencyUnavailable('identity provider', undefined),
  ),
  credentials: errorExample(
    "The bucket's credentials cannot be had",
    dependencyUnavailable('object store credentials', undefined),
  ),
  store: errorExample('The store is down', dependencyUnavailable('store', undefined)),
};

const DESCRIPTION = `One presigned URL for one operation on one object. The object's path is made from the signed-in user, \`projectId\` and \`key\`; nobody can name a bucket or a path, or reach another user's objects:

\`\`\`
v1/{hex SHA-256 of issuer + "|" + user id}/{projectId}/{key}    all lower case, without the 0x
\`\`\`

Call \`url\` with \`method\` and exactly the \`headers\` given, before \`expiresAt\`. Its lifetime is 30 to 300 whole seconds, as the service is set up (60 by default), counted from the second of signing, and never ends after the access token's own.

- A **put** is bound to its content: \`key\` is the SHA-256 of the encrypted bytes, and a signed \`x-amz-checksum-sha256\` (base64 of the same) has the store refuse any others. The signed \`if-none-match: *\` refuses to overwrite: a second put answers 412, and what is there hashes to the same key. A service may run with this turned off.
- A put with \`size\` takes exactly that many bytes: \`content-length\` is signed too. A service may ask for it.
- A **get** answers as an attachment of type \`application/octet-stream\`.
- Where no bucket is set, the URL points to this service (\`/objects/…\`), with the same meaning.`;

/** Describes `POST /storage/sign`. @param options.publicUrl - base of the service's own URLs */
export function describeSignStorage({ publicUrl }: { readonly publicUrl: string }): RouteDescription {
  return {
    tag: TAGS.storage,
    summary: 'Get a presigned URL',
    description: DESCRIPTION,
    requestBody: jsonBody('SignStorageBody', 'Which object, and what to do with it', SIGN_EXAMPLES),
    success: { description: 'The URL.', schema: 'SignedOperation', examples: createSignedExamples(publicUrl) },
    failures: {
      400: { description: 'The body is not valid.', examples: invalidExamples() },
      401: { description: 'The token is missing, malformed, expired or revoked.', examples: TOKEN_FAILURES },
      503: {
        description:
          'The identity provider, the credentials of the bucket or the store did not answer. A token is never taken unchecked.',
        examples: OUTAGES,
      },
    },
  };
}
