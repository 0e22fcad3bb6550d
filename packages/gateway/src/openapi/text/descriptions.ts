import { type Action, ERROR_CODES, MAX_FAULTS } from '@prism-gateway/protocol';
import { RELAYER_AUTH_RULES, RELAYER_AUTH_WORKED_EXAMPLE } from './authentication.ts';

/** Names of the document's tags. */
export const TAGS = {
  requests: 'Requests',
  storage: 'Storage',
  relayers: 'Relayer whitelist',
  administration: 'Administration',
  webhooks: 'Webhooks',
  operations: 'Operations',
  development: 'Development',
  objects: 'Local objects',
} as const;

/** The routes that each tag gathers. */
export const TAG_DESCRIPTIONS: Readonly<Record<keyof typeof TAGS, string>> = {
  requests: 'The queue of signed requests',
  storage: 'Presigned URLs for encrypted objects',
  relayers: 'Who may claim; administrators only',
  administration: 'What administrators see and do of the queue; each act is in the audit log',
  webhooks: 'Signed messages to receivers of yours, one for each move of a request',
  operations: 'For operators and readers',
  development: 'The built-in identity issuer and relayer; neither exists in production',
  objects: 'Objects on this machine, behind presigned URLs; with a bucket, its own service answers instead',
};

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
| relayer | three \`X-Relayer-…\` headers | \`PATCH /requests/{requestId}\`, \`GET /requests/feed\`, claims, reports and releases, \`GET /requests\` with \`status\` or \`chainName\` |
| admin | \`X-Admin-Key\` | \`/admin/…\` |`;

const CONVENTIONS = `## Conventions

- Times are ISO 8601, UTC, with milliseconds and \`Z\`. Amounts and Unix times inside \`params\` are decimal strings: no sign, no leading zeros, at most 2^256-1.
- Addresses and hex are returned as they were given, and compared without regard to letter case. Only the whitelist stores addresses with the checksum of EIP-55.
- A field that has no value is absent, not \`null\`. The one \`null\` is a \`lastKey\` after the last page.
- Bodies are JSON in UTF-8, without a byte order mark; a body without a \`Content-Type\` is read as JSON. Of a doubled key the last one counts. **Unknown fields are refused** at every level (\`__proto__\` too), each named by its own path.
- Unknown query parameters are ignored; a known one may stand once, and not empty.
- Every answer carries \`X-Request-Id\`: the caller's own, if it sent one of 1 to 64 letters, digits and \`. _ : -\`, else a new one. Name it when you report a problem.
- \`GET\` routes answer \`HEAD\` too.`;

const ERRORS = `## Errors

Every failing answer, an unknown route's 404 included, has the body \`{ "error": "one human-readable sentence", "code": "FOR_PROGRAMS" }\`; validation errors add \`details\`, an array of \`{ path, message }\` with a \`path\` like \`params.dataIds[2]\`. One answer names every fault (at most ${MAX_FAULTS}). Match by \`code\`, never by text: the sentence may change, the code does not.

| Status | Code | Meaning |
| --- | --- | --- |
${Object.entries(ERROR_CODES)
  .filter(([code]) => !code.startsWith('OBJECT_'))
  .map(([code, [status, meaning]]) => `| ${status} | \`${code}\` | ${meaning} |`)
  .join('\n')}

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

/** The meaning of a field whose format alone does not say it, by schema and field. */
export const FIELD_DESCRIPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  RequestRecord: {
    requestId: 'Made by the service: a UUID of version 7',
    signer: 'The user: `params.signer`, as it was given',
    status: 'Begins as `pending`',
    createdAt: 'When the request was stored',
    updatedAt: 'When the record last changed',
    txHash: 'As the relayer reported it; present once the status is `success`',
    errorMessage: 'As the relayer reported it; present once the status is `failed`',
    claimedBy: 'The relayer that holds or held the claim; present once claimed',
    claimedAt: 'When it claimed; present once claimed',
  },
  RequestPage: {
    count: 'Number of `items` on this page',
    lastKey: 'Cursor: pass it as `lastKey`, with the same filters, for the next page. `null`: this was the last page',
    cut: 'There if the page ended before its `limit` and is not the last: its requests are large, or many had to be looked at',
  },
  Relayer: {
    address: 'With the letter case of EIP-55',
    label: 'Name for people',
    createdAt: 'When the address was first whitelisted',
    updatedAt: 'When the record last changed',
    suspendedAt: 'Since when its calls are refused; present while it is suspended',
    suspendReason: 'Why, for people; present while it is suspended',
  },
  RelayerReleased: {
    address: 'With the letter case of EIP-55',
    released: 'Number of requests that are pending again',
    complete: 'False where the relayer may hold more: call again',
  },
  FeedPage: {
    count: 'Number of `items` on this page',
    cursor: 'Pass it as `cursor` for the next page; it is never null',
  },
  AuditPage: { count: 'Number of `items`', lastKey: 'Pass it as `lastKey` for older acts; null on the last page' },
  AuditedAct: {
    act: 'Like `requests.release`',
    keyId: 'The first 12 hex digits of the SHA-256 of the key that was used',
    target: 'The request or the relayer that it was done to',
    reason: 'As it was given, where the act takes one',
  },
  Service: {
    limits: 'Calls a minute and client, by limit; 0: none',
    clients: 'Who is nearest to a limit, nearest first, of the clients of the process that answers; at most 20',
    refusals: 'How often that process has answered 429, by limit, of those that have within the hour',
    since: 'When that process began to count',
    waiting: 'Calls of that process that wait for something to happen',
    disk: 'The disk of `DATA_DIR`; absent where nothing of the service is on it',
    budgets: 'What is in use of the bounds on what strangers send; empty in a function',
  },
  ClientUse: {
    client: '`relayer:` and an address, `user:` and a hash, `admin`, or the address of a peer as it stands in the log',
    used: 'Hits, or bytes, that count now',
    most: 'A minute',
  },
  LimitRefusals: { lastMinute: 'In the last minute', lastHour: 'In the last hour' },
  BudgetUse: {
    used: 'Bytes, or connections',
    most: 'Where it ends; absent: no bound',
    ended: 'How often something was ended to make room',
  },
  DiskUse: { leastFreeBytes: 'Below it, nothing new is taken; 0: no bound' },
  Delivery: { status: 'Whether it waits, was delivered, or was given up' },
  Program: { status: 'The JSON that it answers', error: 'Why there is no status' },
  QueueStats: {
    version: 'Other stats have another one; see `seen`',
    chains: 'Requests by chain, the busiest first',
    oldestPendingAt: 'When the oldest pending request was stored',
    oldestProcessingAt: 'When the oldest claimed request was stored',
    minutes: 'What happened in each minute of the last hour',
    hours: 'What happened in each hour of the last week',
    relayers: 'Who claims, last seen first',
  },
  ChainCounts: { chainName: 'null: all chains that are not counted apart' },
  QueueActivity: { start: 'Begin of the minute or hour' },
  RelayerStats: {
    openClaims: 'Requests that it holds',
    conflicts: 'Claims that it lost to rivals',
    medianMs: 'From claim to report, within a tenth; absent without reports',
    p95Ms: 'As `medianMs`, of the slowest twentieth',
    lastSeenAt: 'Its last authenticated call, within a minute; absent if none is known',
  },
  RelayerList: { count: 'Number of `relayers`' },
  RelayerRemoved: { message: 'One human-readable sentence', address: 'With the letter case of EIP-55' },
  SignedOperation: { expiresAt: 'End of the lifetime; never later than the end of the access token' },
  Error: { details: 'Every fault found; present with validation errors' },
};

/** The meaning of a field's name wherever nothing else is said of it. */
export const COMMON_FIELDS: Readonly<Record<string, string>> = {
  action: 'What the Forwarder is asked to do',
  status: 'State of the request',
  requestId: 'Id of the request',
  items: 'Those of this page, in order',
  count: 'How many there are in the answer',
  lastKey: 'Cursor: pass it as `lastKey` for the next page; null on the last',
  message: 'One human-readable sentence',
  errorMessage: 'As it was reported',
  dataIds: 'Ids of the entries, one for each payload',
  payloads: 'What is written, one for each id',
  requests: 'Entries, each signed by its own signer',
  conflicts: 'Those that were not moved, each with the reason',
  reason: 'Why it was not moved',
  relayers: 'Relayers on the whitelist, oldest first',
  programs: 'What the programs of the setting `STATUS_URLS` say of themselves',
  explorers: 'Where a transaction is shown, with `{hash}`, by chain: the setting `EXPLORER_URLS`',
  pending: 'Requests that wait',
  processing: 'Requests that are claimed',
  success: 'Requests that were reported successful',
  failed: 'Requests that were reported failed',
  posts: 'Requests that were stored',
  claims: 'Claims that were won',
  claimLeaseSeconds: 'After which a claim lapses; 0: never',
  maxOpenClaims: 'Most requests that one relayer may hold; 0: any number',
  maxBodyBytes: 'Limit of a body',
  maxBatchSize: 'Most entries of a batch array',
  chains: 'The only chains that requests are taken for; empty: any',
  key: 'The key of this call',
  keyId: 'The first 12 hex digits of the SHA-256 of the key',
  mayAct: 'False: it is for reading',
  limit: 'Name of the limit',
  name: 'Its name',
  freeBytes: 'Bytes that are free',
  webhookId: 'Id of the webhook',
  webhooks: 'Every webhook, oldest first',
  url: 'Where it is posted to',
  events: 'Kinds of event',
  event: 'Kind of event',
  type: 'Kind of event',
  data: 'The record as the event left it, without its params',
  label: 'Name for people',
  enabled: 'False: nothing is sent, and nothing kept for it',
  waiting: 'Deliveries that wait',
  dropped: 'Events that found no room',
  disabledReason: 'Why the service disabled it',
  deliveryId: 'Id of the delivery',
  messageId: 'Its `webhook-id`, the same for each attempt',
  attempts: 'How often it was tried',
  lastStatus: 'Status of the last answer',
  lastError: 'What went wrong last',
  operation: 'What the URL is for',
  method: 'Method of the call',
};

/** The effect of each action on the Forwarder, in one line. */
export const ACTION_SUMMARIES: Readonly<Record<Action, string>> = {
  CREATE_PRISM_FOR: 'Create a prism, funded by a permit',
  WRITE_DATA_FOR: 'Write one entry',
  MODIFY_DATA_FOR: 'Replace one entry',
  DELETE_DATA_FOR: 'Delete one entry',
  TRANSFER_PRISM_FOR: 'Offer a prism to a new owner',
  ACCEPT_TRANSFER_FOR: 'Accept an offered prism',
  DELETE_PRISM_FOR: 'Delete a prism',
  BATCH_WRITE_DATA_FOR: 'Write several entries',
  BATCH_MODIFY_DATA_FOR: 'Replace several entries',
  BATCH_DELETE_DATA_FOR: 'Delete several entries',
  BATCH_MULTI_USER_WRITE_DATA: 'Write entries of several users, each individually signed',
  CREATE_PRISM_WITH_DATA_FOR: 'Create a prism and write its first entries, in one transaction',
};

const NO_PERMIT_WITHOUT_FUNDS = '`permit` is refused when `fundAmount` is `0`, and optional otherwise.';
const EQUAL_LENGTHS = '`dataIds` and `payloads` have as many entries as each other.';

/** Rules between the fields of one action's params. */
export const PARAMS_RULES: Readonly<Partial<Record<Action, readonly string[]>>> = {
  CREATE_PRISM_FOR: [NO_PERMIT_WITHOUT_FUNDS],
  BATCH_WRITE_DATA_FOR: [EQUAL_LENGTHS],
  BATCH_MODIFY_DATA_FOR: [EQUAL_LENGTHS],
  BATCH_MULTI_USER_WRITE_DATA: [
    "The Forwarder checks each entry's own signature against that entry's `signer`; the outer shared fields say who queued the batch.",
  ],
  CREATE_PRISM_WITH_DATA_FOR: [NO_PERMIT_WITHOUT_FUNDS, EQUAL_LENGTHS],
};
