import { isIP } from 'node:net';
import type { LookupFunction, Socket } from 'node:net';
import { buildConnector } from 'undici';
import { isPublicAddress } from './address.ts';
import type { NetBoundary, ResolvedAddress } from './boundary.ts';
import { TargetRefused } from './target.ts';

/** Bound of resolving, connecting and the TLS handshake together. */
const CONNECT_TIMEOUT_MS = 8_000;
/** Addresses of one name that are tried. */
const ADDRESSES_MAX = 8;

/**
 * An undici connector that dials only what it has checked: every address of the name must be public, exactly
 * these are handed to the dialler, and the address really reached is looked at again before a byte is sent.
 */
export function createConnector(
  boundary: NetBoundary,
  allowPrivateTargets: boolean,
): buildConnector.connector {
  const allowed = (address: string): boolean => allowPrivateTargets || isPublicAddress(address);
  const secure = buildConnector({ timeout: CONNECT_TIMEOUT_MS, allowH2: false });
  const lookup = checkedLookup(boundary, allowed);

  return (options, callback) => {
    const host = options.hostname.replace(/^\[|\]$/g, '');
    if (isIP(host) !== 0 && !allowed(host)) return callback(new TargetRefused('address'), null);
    const secured = options.protocol === 'https:';
    const port = Number(options.port) || (secured ? 443 : 80);
    dial(boundary, { host, port, lookup }, (error, socket) => {
      if (!socket) return callback(error ?? new Error('the dialler gave no socket'), null);
      if (socket.remoteAddress === undefined || !allowed(socket.remoteAddress)) {
        socket.destroy();
        return callback(new TargetRefused('address'), null);
      }
      socket.setNoDelay(true).setKeepAlive(true, 30_000);
      if (!secured) return callback(null, socket);
      secure({ ...options, httpSocket: socket }, callback);
    });
  };
}

/** Resolves once, refuses when any address is not allowed, and gives the dialler that very list. */
function checkedLookup(boundary: NetBoundary, allowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    const answer = (found: ResolvedAddress[]): void => {
      const first = found[0];
      if (!first) return callback(dnsError(hostname), '', 4);
      if (!found.every(({ address }) => allowed(address)))
        return callback(new TargetRefused('address'), '', 4);
      if (options.all) return callback(null, found.slice(0, ADDRESSES_MAX));
      callback(null, first.address, first.family);
    };
    boundary.resolve(hostname).then(answer, (error: NodeJS.ErrnoException) => callback(error, '', 4));
  };
}

function dnsError(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' });
}

function dial(
  boundary: NetBoundary,
  target: { host: string; port: number; lookup: LookupFunction },
  callback: (error: Error | null, socket: Socket | null) => void,
): void {
  const socket = boundary.connect({ ...target, autoSelectFamily: true });
  const finish = (error: Error | null): void => {
    clearTimeout(timer);
    socket.removeListener('connect', onConnect).removeListener('error', finish);
    if (error) socket.on('error', () => undefined).destroy();
    callback(error, error ? null : socket);
  };
  const onConnect = (): void => finish(null);
  const late = Object.assign(new Error('connecting took too long'), { code: 'ETIMEDOUT' });
  const timer = setTimeout(() => finish(late), CONNECT_TIMEOUT_MS);
  socket.once('connect', onConnect).once('error', finish);
}
