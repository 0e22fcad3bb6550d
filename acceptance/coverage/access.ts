import type { Rule } from './rule.ts';

const relayers = 'SPEC.md section 5, "Relayers: ECDSA signature"';
const message = 'DECISIONS.md, "Wire format"';
const admin = 'SPEC.md section 5, "Admin: API key"';
const limits = 'DECISIONS.md, "Rate limits"';

/** Rules of who may call, how often, and of the whitelist. */
export const ACCESS_RULES = [
  { id: 'relayerAuth.vectors', from: message, says: 'every vector of relayer-auth.json, signed for now' },
  { id: 'relayerAuth.window', from: relayers, says: 'the timestamp is within 5 minutes of the current time' },
  { id: 'relayerAuth.timestamp', from: message, says: 'X-Relayer-Timestamp: 1 to 16 decimal digits' },
  { id: 'relayerAuth.order', from: relayers, says: 'timestamp, signature, whitelist; each says which check failed' },
  { id: 'relayerAuth.scheme', from: message, says: 'EIP-191, 65 bytes, low s, 27/28 or 0/1' },
  { id: 'relayerAuth.addressCase', from: message, says: 'the recovered address equals X-Relayer-Address in any case' },
  { id: 'relayerAuth.replay', from: message, says: 'a signature is good for its method, path and body alone' },
  { id: 'relayerAuth.path', from: message, says: 'no query in the path; %, // or a dot segment fails' },
  { id: 'relayerAuth.body', from: message, says: 'keccak-256 of the raw bytes; no body: of zero bytes' },
  { id: 'relayerAuth.whitelist', from: relayers, says: 'the recovered address is in the whitelist' },
  { id: 'relayerAuth.removed', from: relayers, says: 'a relayer taken off the whitelist is refused' },

  { id: 'admin.key', from: admin, says: 'the value must match exactly; missing or wrong: 401' },
  { id: 'admin.rotation', from: 'DECISIONS.md, "Admin key"', says: 'two keys may be valid at once' },
  {
    id: 'admin.prod',
    from: 'DECISIONS.md, "Admin key"',
    says: 'prod refuses the default and keys under 32 characters',
  },
  { id: 'whitelist.record', from: 'DECISIONS.md, "Whitelist record"', says: 'address, label?, createdAt, updatedAt' },
  {
    id: 'whitelist.checksum',
    from: 'DECISIONS.md, "Whitelist record"',
    says: 'the address is stored EIP-55 checksummed',
  },
  { id: 'whitelist.again', from: 'DECISIONS.md, "POST /admin/relayers"', says: '201, label replaced, createdAt kept' },
  {
    id: 'whitelist.remove',
    from: 'DECISIONS.md, "POST /admin/relayers"',
    says: 'DELETE of an unknown one: 200 all the same',
  },
  { id: 'whitelist.list', from: 'SPEC.md section 4', says: '{ relayers, count }' },

  { id: 'limit.headers', from: limits, says: 'RateLimit and RateLimit-Policy on every limited answer' },
  { id: 'limit.retryAfter', from: limits, says: 'Retry-After on 429' },
  { id: 'limit.classes', from: limits, says: 'writes are POST, PATCH and DELETE, reads GET; sign counts by itself' },
  { id: 'limit.client', from: limits, says: 'relayer address or user id once authenticated, else the peer' },
  { id: 'limit.proxy', from: limits, says: 'X-Forwarded-For from the right, TRUSTED_PROXY_HOPS steps; IPv6 by /64' },
  { id: 'limit.adminFailures', from: limits, says: 'a peer over the limit of failures is refused with the right key' },
  { id: 'limit.off', from: limits, says: '0 = off' },
] as const satisfies readonly Rule[];
