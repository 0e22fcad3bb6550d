import { BlockList, isIPv4 } from 'node:net';

/** Loopback, private and link-local networks. @see https://www.iana.org/assignments/iana-ipv4-special-registry */
const local = new BlockList();
for (const [network, prefix] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
  ['100.64.0.0', 10],
] as const) {
  local.addSubnet(network, prefix, 'ipv4');
}
local.addSubnet('fc00::', 7, 'ipv6');
local.addSubnet('fe80::', 10, 'ipv6');

/** The /64 of ::1, in which no other peer is. As a network it would hold all IPv4 addresses too. */
const LOOPBACK_64 = '0:0:0:0::/64';

/**
 * Whether a peer is this machine, or in a private network.
 *
 * @param peer - an IPv4 address, or the /64 of an IPv6 one like `2001:db8:0:0::/64`
 */
export function isLocalPeer(peer: string): boolean {
  if (isIPv4(peer)) return local.check(peer, 'ipv4');
  return peer === LOOPBACK_64 || (peer.endsWith('/64') && local.check(peer.slice(0, -3), 'ipv6'));
}
