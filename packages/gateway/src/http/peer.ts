import { isIPv4, isIPv6 } from 'node:net';

const dottedMappedIPv4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** The eight groups of an IPv6 address, in lower case and without leading zeros. */
function groupsOf(address: string): string[] {
  const [bare = ''] = address.split('%');
  // A URL's host is written in the one canonical form, without dots.
  const [head = '', tail] = new URL(`http://[${bare}]`).hostname.slice(1, -1).split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  return [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
}

/** The first four groups of an IPv6 address: one customer's network; or the IPv4 address that it stands for. */
function clientOfIPv6(address: string): string {
  const groups = groupsOf(address);
  if (groups.slice(0, 6).join(':') !== '0:0:0:0:0:ffff') return `${groups.slice(0, 4).join(':')}::/64`;
  const bytes = groups.slice(6).flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
  return bytes.join('.');
}

/** Names the client behind an address: an IPv4 address, or the /64 of an IPv6 one. */
export function clientOfAddress(address: string): string {
  if (isIPv4(address)) return address;
  // The form in which Node names the peers of a dual-stack socket.
  const mapped = dottedMappedIPv4.exec(address)?.[1];
  if (mapped !== undefined && isIPv4(mapped)) return mapped;
  return isIPv6(address) ? clientOfIPv6(address) : 'unknown';
}

/** An address as some proxies write it: `192.0.2.1:80`, `[2001:db8::1]:443`. */
const addressWithPort = /^(?:(?<v4>\d+\.\d+\.\d+\.\d+):\d+|\[(?<v6>[^\]]+)\](?::\d+)?)$/;

function withoutPort(hop: string): string {
  const { v4, v6 } = addressWithPort.exec(hop)?.groups ?? {};
  return v4 ?? v6 ?? hop;
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
  const hops = forwardedFor.split(',').map((hop) => withoutPort(hop.trim()));
  const address = hops[Math.max(0, hops.length - trustedHops)] ?? socketAddress;
  const client = clientOfAddress(address);
  return client === 'unknown' ? clientOfAddress(socketAddress) : client;
}
