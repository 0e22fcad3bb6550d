import { MAX_FAULTS } from '@prism-gateway/protocol';
import { RELAYER_AUTH_RULES, RELAYER_AUTH_WORKED_EXAMPLE } from './relayerAuth.ts';

const INTRODUCTION = `1. A **user** signs EIP-712 typed data and posts it to \`/requests\`. Nobody has to sign in: the signature proves the intent, and the Forwarder contract verifies it on-chain.
2. A **relayer** lists pending requests, claims one (of any number of rivals exactly one wins), submits the transaction itself, and reports how it ended. This service never touches a chain.
3. A **signed-in user** asks for one short-lived presigned URL for one operation on one encrypted object.

\`\`\`
pending ──claim──▶ processing ──report──▶ success | failed
\`\`\`

No other move exists, and a 200 or 201 that was sent is durable.`;

const ACCESS = `## Who may call

| Level | Proof | Routes |
| --- | --- | --- |
| public | none | \`POST /requests\`, \`GET /requests?signer=…\`, \`GET /requests/{requestId}\` |
| identity | \`Authorization: Bearer <access token>\` of the configured identity provider | \`POST /storage/sign\` |
| relayer | three \`X-Relayer-…\` headers | \`PATCH /requests/{requestId}\`, \`GET /requests\` with \`status\` or \`chainName\` |
| admin | \`X-Admin-Key\` | \`/admin/relayers\` |`;

const CONVENTIONS = `## Conventions

- Times are ISO 8601, UTC, with milliseconds and \`Z\`. Amounts and Unix times inside \`params\` are decimal strings: no sign, no leading zeros, at most 2^256-1.
- Addresses and hex are returned as they were given, and compared without regard to letter case. Only the whitelist stores addresses with the checksum of EIP-55.
- A field that has no value is absent, not \`null\`. The one \`null\` is a \`lastKey\` after the last page.
- Bodies are JSON in UTF-8, without a byte order mark; a body without a \`Content-Type\` is read as JSON. Of a doubled key the last one counts. **Unknown fields are refused** at every level (\`__proto__\` too), each named by its own path.
- Unknown query parameters are ignored; a known one may stand once, and not empty.
- Every answer carries \`X-Request-Id\`: the caller's own, if it sent one of 1 to 64 letters, digits and \`. _ : -\`, else a new one. Tell it when you report a problem.
- \`GET\` routes answer \`HEAD\` too.`;

const ERRORS = `## Errors

Every failing answer, an unknown route's 404 included, has the body \`{ "error": "one human-readable sentence" }\`; validation errors add \`details\`, an array of \`{ path, message }\` with a \`path\` like \`params.dataIds[2]\`. One answer names every fault (at most ${MAX_FAULTS}). Match by status, not by text.

| Status | Meaning |
| --- | --- |
| 400 | validation: a wrong, missing or unknown field or parameter, or a body that is not JSON |
| 401 | authentication: token, relayer signature, whitelist or admin key; \`error\` says which check failed |
| 404 | no such route, or no such request |
| 405 | the route does not take this method; \`Allow\` lists those it takes |
| 409 | the record's status does not allow what was asked, such as a claim of a claimed request; nothing was changed |
| 413 | the body is too large |
| 415 | the body says that it is something other than JSON |
| 429 | too many calls; \`Retry-After\` says how many seconds to wait |
| 500 | unexpected; nothing inside is told, but the log has it under the \`X-Request-Id\` |
| 503 | the store or the identity provider did not answer; \`Retry-After\` as above |

Where several apply, the first of these wins: route (404, 405), preflight, rate limit of the peer (429), size (413), content type (415), authentication (401), validation (400), existence (404), state (409).`;

const LIMITS = (limits: { readonly maxBodyBytes: number; readonly maxBatchSize: number }) => `## Limits

- A body has at most ${limits.maxBodyBytes} bytes, a batch array 1 to ${limits.maxBatchSize} entries, a page 1 to 100 records.
- Rate limits count a client over a sliding minute: the relayer's address or the user once authenticated, else the peer's address (IPv6 by its /64). Reads (\`GET\`), writes (\`POST\`, \`PATCH\`, \`DELETE\`) and \`sign\` are counted apart. Limited answers carry \`RateLimit-Policy: "writes";q=600;w=60\` (quota and window in seconds) and \`RateLimit: "writes";r=599;t=42\` (what remains, and seconds to the end of the window), after draft-ietf-httpapi-ratelimit-headers. Unless the service is set up otherwise, a client has 3000 reads, 600 writes and 600 signed operations a minute. A limit may be switched off; then its headers are absent.
- A peer that fails the admin key too often (20 times a minute unless set otherwise) is refused for a while with the right key too.

## CORS

Every answer may be read from any origin. Preflights (\`OPTIONS\`) are answered with 204 on every route and count against no limit. Local object URLs (\`/objects/…\`) follow the bucket's own policy instead: \`GET\`, \`PUT\`, \`HEAD\` and \`DELETE\` with any header, from the origins that the bucket allows.`;

/**
 * Writes the document's introduction: what a client must know before any single route.
 *
 * @param limits.maxBodyBytes - limit of a body, in bytes
 * @param limits.maxBatchSize - most entries of a batch array
 * @returns Markdown
 * @see docs/specification.md WIRE-1
 */
export function writeOverview(limits: { readonly maxBodyBytes: number; readonly maxBatchSize: number }): string {
  const relayerAuth = `## Relayer authentication\n\n${RELAYER_AUTH_RULES}\n\n${RELAYER_AUTH_WORKED_EXAMPLE}`;
  return [INTRODUCTION, ACCESS, CONVENTIONS, ERRORS, LIMITS(limits), relayerAuth].join('\n\n');
}
