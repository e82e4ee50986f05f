import { BlockList, isIP } from 'node:net';

/**
 * IPv4 that is not public: IANA special-purpose registry (RFC 6890 and its updates), multicast (RFC 5771),
 * and 168.63.129.16, the one public address that is a cloud's metadata service (Azure).
 */
const IPV4_REFUSED: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['168.63.129.16', 32],
];

/** IPv6 global unicast; all that is public lies inside, so mapped, NAT64, ULA and link-local fall out. */
const IPV6_GLOBAL = ['2000::', 3] as const;

/** Parts of global unicast that are not public: protocol assignments with Teredo, documentation, 6to4, AS112. */
const IPV6_REFUSED: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['2620:4f:8000::', 48],
];

// Two lists on purpose: one list with a wide IPv6 rule also matches IPv4.
const refusedIpv4 = new BlockList();
for (const [network, bits] of IPV4_REFUSED) refusedIpv4.addSubnet(network, bits, 'ipv4');
const globalIpv6 = new BlockList();
globalIpv6.addSubnet(IPV6_GLOBAL[0], IPV6_GLOBAL[1], 'ipv6');
const refusedIpv6 = new BlockList();
for (const [network, bits] of IPV6_REFUSED) refusedIpv6.addSubnet(network, bits, 'ipv6');

/** True when `address` (an IP literal without brackets) is on the public internet; anything else is false. */
export function isPublicAddress(address: string): boolean {
  if (address.includes('%')) return false;
  switch (isIP(address)) {
    case 4:
      return !refusedIpv4.check(address, 'ipv4');
    case 6:
      return globalIpv6.check(address, 'ipv6') && !refusedIpv6.check(address, 'ipv6');
    default:
      return false;
  }
}

/** Names that never mean a public host (RFC 6761, RFC 6762, RFC 8375, RFC 9476 and ICANN's private `internal`). */
const PRIVATE_NAMES = ['localhost', 'local', 'internal', 'home.arpa', 'localdomain', 'alt', 'onion'];

/** `host` in lower case without a trailing dot. */
export function isPrivateName(host: string): boolean {
  return PRIVATE_NAMES.some((name) => host === name || host.endsWith(`.${name}`));
}
