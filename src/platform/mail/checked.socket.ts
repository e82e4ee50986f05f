import { lookup } from 'node:dns/promises';
import { connect, isIP } from 'node:net';
import type { LookupFunction, Socket } from 'node:net';
import { isPublicAddress, TargetRefused } from '../net/index.ts';

/** Addresses of one name that are tried. */
const ADDRESSES_MAX = 8;

export interface SocketTarget {
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  /** Development: addresses that are not public are dialled too. */
  readonly allowPrivateTargets: boolean;
  /** Bound of resolving and connecting together. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * A connection to an address that was checked: all that the name resolves to must be public, exactly that is dialled, and
 * the address really reached is looked at again (supplement 8).
 * @throws TargetRefused, or the connection's error with its `code`; nothing was sent either way
 */
export async function connectChecked(target: SocketTarget): Promise<Socket> {
  const { host, port, timeoutMs } = target;
  const signal = AbortSignal.any([target.signal, AbortSignal.timeout(timeoutMs)]);
  const isAllowed = (address: string): boolean => target.allowPrivateTargets || isPublicAddress(address);
  const found = await within(signal, addressesOf(host));
  if (!found.every(({ address }) => isAllowed(address))) throw new TargetRefused('address');
  const known: LookupFunction = (_name, _options, callback) => callback(null, found.slice(0, ADDRESSES_MAX));
  const socket = connect({ host, port, lookup: known, autoSelectFamily: true });
  try {
    await within(signal, connected(socket));
    if (socket.remoteAddress === undefined || !isAllowed(socket.remoteAddress))
      throw new TargetRefused('address');
    return socket;
  } catch (error) {
    socket.on('error', () => undefined).destroy();
    throw error;
  }
}

async function addressesOf(host: string): Promise<{ address: string; family: number }[]> {
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  return lookup(host, { all: true, order: 'verbatim' });
}

const connected = (socket: Socket): Promise<void> =>
  new Promise((resolve, reject) => {
    socket.once('error', reject).once('connect', () => {
      socket.off('error', reject);
      resolve();
    });
  });

/** Ends the waiting, not the work, when the signal is aborted. */
function within<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void =>
      reject(Object.assign(new Error('connecting took too long'), { code: 'ETIMEDOUT', syscall: 'connect' }));
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
