import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** Hops of X-Forwarded-For that are looked at, from the last. */
const HOPS_MAX = 32;

/** The addresses and networks of TRUST_PROXY. */
export function trustedProxies(items: readonly string[]): BlockList {
  const trusted = new BlockList();
  for (const item of items) {
    const [address = '', bits] = item.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    trusted.addSubnet(address, bits === undefined ? (family === 'ipv6' ? 128 : 32) : Number(bits), family);
  }
  return trusted;
}

/** Who sent a request: the peer, or behind trusted proxies the last address that is none of them. */
export function clientAddress(request: IncomingMessage, trusted: BlockList): string {
  let address = plain(request.socket.remoteAddress ?? '');
  const forwarded = String(request.headers['x-forwarded-for'] ?? '').split(',');
  for (const hop of forwarded.reverse().slice(0, HOPS_MAX)) {
    const next = plain(hop.trim());
    if (isIP(next) === 0 || !trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')) break;
    address = next;
  }
  return address;
}

/** IPv4 that came over a socket of IPv6 is IPv4. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');
