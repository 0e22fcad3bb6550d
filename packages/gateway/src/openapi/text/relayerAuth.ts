import { EMPTY_BODY_HASH } from '@prism-gateway/protocol';
import { RELAYER_AUTH_EXAMPLE as EXAMPLE } from '../examples/relayerAuthExample.ts';

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

- \`Path\` is the path as the service routes it: no query string, no host, no stage prefix or base path. A path that holds \`%\`, \`//\` or a dot segment is refused.
- \`Body\` of a call without a body is the hash of zero bytes, \`${EMPTY_BODY_HASH}\`. Hash the bytes that are sent, not JSON written anew.
- The recovery value is 27 or 28 (0 and 1 are read as those) and \`s\` is in the lower half of the order; compact signatures are refused. The recovered address must be \`X-Relayer-Address\`.
- Checked in this order: timestamp, signature, whitelist. Whichever fails first is named in the 401.`;

/** A call whose every value a client can compute anew. */
export const RELAYER_AUTH_WORKED_EXAMPLE = `Worked example: \`${EXAMPLE.address}\`, the second account of the well-known development mnemonic ("test test … junk"), claims a request. The body is \`${EXAMPLE.body}\`, its keccak-256 stands in the last line, and the text is

\`\`\`
${EXAMPLE.message}
\`\`\`

whose EIP-191 digest is \`${EXAMPLE.digest}\`. Deterministic signing (RFC 6979) gives these headers:

\`\`\`http
X-Relayer-Address: ${EXAMPLE.address}
X-Relayer-Timestamp: ${EXAMPLE.timestamp}
X-Relayer-Signature: ${EXAMPLE.signature}
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
