import { type Access, createRelayerAuthMessage, EMPTY_BODY_HASH } from '@prism-gateway/protocol';
import type { SecurityRequirement } from '../document.ts';

const call = {
  timestamp: '1767225600000',
  method: 'PATCH',
  path: '/requests/0197c2a4-5b1e-7c3d-8f60-0242ac120002',
  bodyHash: '0x1f73c6f9734311b04d4692b14a99a883e6a39e6d086dc33269885ca1dae2c33e',
};

/**
 * One call of a relayer with everything that goes into its signature: the vector "a claim by another relayer" of the
 * protocol's vectors, signed by the second account of the well-known development mnemonic.
 *
 * @see packages/protocol/vectors/relayer-auth.json
 */
export const RELAYER_AUTH_EXAMPLE = {
  ...call,
  body: '{"status":"processing"}',
  message: createRelayerAuthMessage(call),
  digest: '0x4e0b649f2d4e23ba23ae7580ef92a4440d12464efb5909e37a199814cf77e49a',
  address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  signature:
    '0x6700d9e484832e7525ccd2c3d52bab28effad07e73a7261c7bb343a134adb5bd0110f61ecee3596f9a245f997016903f1fce01a4ca60bdb816b1f54ec566a3f31c',
} as const;

/** The three headers and the message that they prove. */
export const RELAYER_AUTH_RULES = `A relayer proves each call by a signature of its own Ethereum key, in three headers:

| Header | Value |
| --- | --- |
| \`X-Relayer-Address\` | the relayer's address, in any letter case |
| \`X-Relayer-Timestamp\` | Unix time in milliseconds, 1 to 16 decimal digits, within 5 minutes of the service's clock |
| \`X-Relayer-Signature\` | EIP-191 personal-message signature of the text below: \`0x\` and 130 hex digits (\`r\`, \`s\`, recovery value) |

The signed text has exactly five lines, joined by LF (\`\\n\`), without a trailing one, in UTF-8:

\`\`\`
Service Relayer Auth
Timestamp: <text of X-Relayer-Timestamp>
Method: <HTTP method in upper case>
Path: <request path>
Body: <0x and lower-case hex of keccak-256 of the raw body bytes>
\`\`\`

- \`Path\` is the path as the service routes it: no query string, no host, no stage prefix or base path. Dot segments are resolved first. A path that then holds \`%\` or \`//\` is refused, whoever signs.
- \`Body\` of a call without a body is the hash of zero bytes, \`${EMPTY_BODY_HASH}\`. Hash the bytes that are sent, not JSON written anew.
- The recovery value is 27 or 28 (0 and 1 are read as those) and \`s\` is in the lower half of the order; compact signatures are refused. The recovered address must be \`X-Relayer-Address\`.
- Checked in this order: timestamp, signature, whitelist. Whichever fails first is named in the 401.`;

/** A call whose every value a client can compute anew. */
export const RELAYER_AUTH_WORKED_EXAMPLE = `Worked example: \`${RELAYER_AUTH_EXAMPLE.address}\`, the second account of the well-known development mnemonic ("test test … junk"), claims a request. The body is \`${RELAYER_AUTH_EXAMPLE.body}\`, its keccak-256 stands in the last line, and the text is

\`\`\`
${RELAYER_AUTH_EXAMPLE.message}
\`\`\`

whose EIP-191 digest is \`${RELAYER_AUTH_EXAMPLE.digest}\`. Deterministic signing (RFC 6979) gives these headers:

\`\`\`http
X-Relayer-Address: ${RELAYER_AUTH_EXAMPLE.address}
X-Relayer-Timestamp: ${RELAYER_AUTH_EXAMPLE.timestamp}
X-Relayer-Signature: ${RELAYER_AUTH_EXAMPLE.signature}
\`\`\`

With viem:

\`\`\`ts
const body = JSON.stringify({ status: 'processing' });
const timestamp = String(Date.now());
const message = ['Service Relayer Auth', \`Timestamp: \${timestamp}\`, 'Method: PATCH', \`Path: /requests/\${requestId}\`,
  \`Body: \${keccak256(toBytes(body))}\`].join('\\n');
const signature = await account.signMessage({ message });
\`\`\`

More vectors, good ones and bad ones, are in \`packages/protocol/vectors/relayer-auth.json\`.`;

const header = (name: string, description: string) => ({ type: 'apiKey', in: 'header', name, description });

/**
 * The ways to authenticate.
 *
 * @see docs/specification.md AUTH-1, ADMIN-1, TOKEN-1
 */
export const SECURITY_SCHEMES = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description:
      "Access token of the configured identity provider. The token's user decides which objects can be reached. A missing, expired or revoked token is a 401 (5 seconds of tolerance between clocks; where the provider offers introspection, a revocation holds within 15 seconds; Privy offers none: there a token is taken until it is as old as `IDENTITY_MAX_TOKEN_AGE_SECONDS`); a provider that does not answer, a 503.",
  },
  relayerAddress: header(
    'X-Relayer-Address',
    "The relayer's Ethereum address. All three `X-Relayer-…` headers go together.",
  ),
  relayerTimestamp: header(
    'X-Relayer-Timestamp',
    "Unix time in milliseconds, within 5 minutes of the service's clock; it is the second line of the signed text.",
  ),
  relayerSignature: header('X-Relayer-Signature', `${RELAYER_AUTH_RULES}\n\n${RELAYER_AUTH_WORKED_EXAMPLE}`),
  adminKey: header(
    'X-Admin-Key',
    "The administrator's key: the value of the setting `ADMIN_API_KEY`, exactly; during a rotation two keys are valid at once. A key of the setting `ADMIN_READ_KEYS` may read what administrators see; every act is 403 with it. In the development stage it is `change-me-admin-key` unless set.",
  ),
} as const;

const RELAYER: SecurityRequirement = { relayerAddress: [], relayerTimestamp: [], relayerSignature: [] };

/** The credentials of each access level; none for public routes. */
export const SECURITY_OF_ACCESS: Readonly<Record<Access, readonly SecurityRequirement[]>> = {
  public: [],
  identity: [{ bearer: [] }],
  relayer: [RELAYER],
  admin: [{ adminKey: [] }],
};

/** Nothing, or a relayer's proof: the call's query decides. */
export const OPTIONAL_RELAYER: readonly SecurityRequirement[] = [{}, RELAYER];
