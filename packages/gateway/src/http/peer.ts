import { isIPv4, isIPv6 } from 'node:net';

const mappedIPv4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** The first four groups of an IPv6 address: one customer's network. */
function networkOfIPv6(address: string): string {
  const [bare = ''] = address.split('%');
  const [head = '', tail] = bare.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  const groups = [...left, ...Array<string>(zeros).fill('0'), ...right];
  return `${groups
    .slice(0, 4)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}

/** Names the client behind an address: an IPv4 address, or the /64 of an IPv6 one. */
export function clientOfAddress(address: string): string {
  if (isIPv4(address)) return address;
  const mapped = mappedIPv4.exec(address);
  if (mapped?.[1] !== undefined && isIPv4(mapped[1])) return mapped[1];
  return isIPv6(address) ? networkOfIPv6(address) : 'unknown';
}

/**
 * Finds the peer that a request came from: the socket's, or, behind trusted proxies, the address that many steps from the
 * right of `X-Forwarded-For`. What stands further left was written by the client and is not believed.
 *
 * @param socketAddress - address of the connection
 * @param forwardedFor - the header, if any
 * @param trustedHops - number of proxies in front of the service
 */
export function findPeer(socketAddress: string, forwardedFor: string | null, trustedHops: number): string {
  if (trustedHops === 0 || forwardedFor === null) return clientOfAddress(socketAddress);
  const hops = forwardedFor.split(',').map((hop) => hop.trim());
  const address = hops[Math.max(0, hops.length - trustedHops)] ?? socketAddress;
  const client = clientOfAddress(address);
  return client === 'unknown' ? clientOfAddress(socketAddress) : client;
}
