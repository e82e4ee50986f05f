import { lookup } from 'node:dns/promises';
import { connect } from 'node:net';
import type { Socket, TcpNetConnectOpts } from 'node:net';

export interface ResolvedAddress {
  address: string;
  family: 4 | 6;
}

/** What lies outside the process: names and connections. Replaced only in tests. */
export interface NetBoundary {
  /** All addresses of a name, in the order to try them. Rejects when the name does not resolve. */
  resolve(hostname: string): Promise<ResolvedAddress[]>;
  connect(options: TcpNetConnectOpts): Socket;
}

export const systemBoundary: NetBoundary = {
  async resolve(hostname) {
    const found = await lookup(hostname, { all: true, order: 'verbatim' });
    return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
  },
  connect: (options) => connect(options),
};
