import type { RuleCase } from './ruleCase.ts';

/** Cases of who may call, how often, and of the whitelist. */
export const ACCESS_CASES = [
  { id: 'relayerAuth.vectors', rule: 'AUTH-2', says: 'every vector of relayer-auth.json, signed for now' },
  { id: 'relayerAuth.window', rule: 'AUTH-7', says: 'the timestamp is within 5 minutes of the current time' },
  { id: 'relayerAuth.timestamp', rule: 'AUTH-1', says: 'X-Relayer-Timestamp: 1 to 16 decimal digits' },
  { id: 'relayerAuth.order', rule: 'AUTH-7', says: 'timestamp, signature, whitelist; each says which check failed' },
  { id: 'relayerAuth.scheme', rule: 'AUTH-5', says: 'EIP-191, 65 bytes, low s, 27/28 or 0/1' },
  { id: 'relayerAuth.addressCase', rule: 'AUTH-6', says: 'the recovered address equals X-Relayer-Address in any case' },
  { id: 'relayerAuth.replay', rule: 'AUTH-2', says: 'a signature is good for its method, path and body alone' },
  { id: 'relayerAuth.path', rule: 'AUTH-3', says: 'no query in the path; %, // or a dot segment fails' },
  { id: 'relayerAuth.body', rule: 'AUTH-4', says: 'keccak-256 of the raw bytes; no body: of zero bytes' },
  { id: 'relayerAuth.whitelist', rule: 'AUTH-7', says: 'the recovered address is in the whitelist' },
  { id: 'relayerAuth.removed', rule: 'AUTH-8', says: 'a relayer taken off the whitelist is refused' },
  { id: 'relayerAuth.suspended', rule: 'AUTH-9', says: 'a suspended relayer is refused, and told why' },

  { id: 'admin.key', rule: 'ADMIN-1', says: 'the value must match exactly; missing or wrong: 401' },
  { id: 'admin.rotation', rule: 'ADMIN-2', says: 'two keys may be valid at once' },
  {
    id: 'admin.prod',
    rule: 'ADMIN-3',
    says: 'prod refuses the default and keys under 32 characters',
  },
  {
    id: 'admin.list',
    rule: 'ADMIN-4',
    says: 'the filters of the public list and relayer, or none; a walk gives each record once',
  },
  { id: 'admin.audit', rule: 'ADMIN-9', says: 'each act is a line of the log with the id of the key, never the key' },
  {
    id: 'admin.readKeys',
    rule: 'ADMIN-15',
    says: 'a key for reading reads all and does nothing; what it tries is a line of the log',
  },
  { id: 'admin.wait', rule: 'ADMIN-10', says: 'a call with the version that is known waits for another one' },
  { id: 'admin.programs', rule: 'ADMIN-13', says: 'the other programs, and where transactions are shown' },
  { id: 'whitelist.record', rule: 'WHITELIST-2', says: 'address, label?, createdAt, updatedAt' },
  {
    id: 'whitelist.checksum',
    rule: 'WHITELIST-2',
    says: 'the address is stored EIP-55 checksummed',
  },
  { id: 'whitelist.again', rule: 'WHITELIST-3', says: '201, label replaced, createdAt kept' },
  {
    id: 'whitelist.remove',
    rule: 'WHITELIST-4',
    says: 'DELETE of an unknown one: 200 all the same',
  },
  { id: 'whitelist.list', rule: 'WHITELIST-5', says: '{ relayers, count }' },
  { id: 'whitelist.suspend', rule: 'WHITELIST-6', says: 'suspendedAt and suspendReason until it is resumed' },
  { id: 'whitelist.release', rule: 'WHITELIST-7', says: 'what a relayer holds is pending again' },

  { id: 'limit.headers', rule: 'LIMIT-2', says: 'RateLimit and RateLimit-Policy on every limited answer' },
  { id: 'limit.retryAfter', rule: 'LIMIT-1', says: 'Retry-After on 429' },
  { id: 'limit.classes', rule: 'LIMIT-1', says: 'writes are POST, PATCH and DELETE, reads GET; sign counts by itself' },
  { id: 'limit.client', rule: 'LIMIT-3', says: 'relayer address or user id once authenticated, else the peer' },
  { id: 'limit.proxy', rule: 'LIMIT-4', says: 'X-Forwarded-For from the right, TRUSTED_PROXY_HOPS steps; IPv6 by /64' },
  {
    id: 'limit.adminFailures',
    rule: 'LIMIT-5',
    says: 'a peer over the limit of failures is refused with the right key',
  },
  {
    id: 'limit.failures',
    rule: 'LIMIT-13',
    says: 'failed authentications shut nobody out who has authenticated there',
  },
  { id: 'limit.bytes', rule: 'LIMIT-16', says: 'bytes of bodies without a key count for the peer' },
  { id: 'limit.readBytes', rule: 'LIMIT-20', says: 'bytes of large answers without a key count for the peer' },
  { id: 'limit.batch', rule: 'LIMIT-17', says: 'a batch of claims or reports counts each of its requests' },
  { id: 'limit.unlimited', rule: 'LIMIT-11', says: 'operational routes, preflights, 404 and 405 count nowhere' },
  { id: 'limit.off', rule: 'LIMIT-6', says: '0 = off' },
] as const satisfies readonly RuleCase[];
