import { BlockList, isIP } from 'node:net';

/** Networks of IPv4 that are nobody's on the internet: private, loopback, link-local, reserved, and those of many. */
const reserved4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
] as const;

/** Within the addresses of IPv6 that are given out: those that carry others inside, and those of documents. */
const reserved6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'] as const;

function listOf(networks: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix = ''] = network.split('/');
    list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

const blocked4 = listOf(reserved4, 'ipv4');
const given6 = listOf(['2000::/3'], 'ipv6');
const blocked6 = listOf(reserved6, 'ipv6');

/**
 * Whether an address is a host's on the internet, and not one of this machine or of a network around it.
 *
 * @param address - IPv4 or IPv6, as text; anything else is not one
 * @see https://www.iana.org/assignments/iana-ipv4-special-registry
 * @see https://www.iana.org/assignments/iana-ipv6-special-registry
 */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !blocked4.check(address, 'ipv4');
  // A scope names an interface of this machine.
  if (family !== 6 || address.includes('%')) return false;
  return given6.check(address, 'ipv6') && !blocked6.check(address, 'ipv6');
}

/**
 * Whether the host of a URL is an address that is not public; a name is checked by what it leads to, when it is connected to.
 *
 * @param hostname - of a parsed URL
 */
export function namesPrivateAddress(hostname: string): boolean {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(bare) !== 0) return !isPublicAddress(bare);
  return /^(?:.*\.)?localhost\.?$/i.test(bare);
}
