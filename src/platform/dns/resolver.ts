import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';

/** One question to one server; a second try after it, so an answer takes at most some 8 s for each server. */
const TIMEOUT_MS = 2_000;
const TRIES = 2;
/** Records of one name that are read. */
const RECORDS_MAX = 100;
/** The name does not exist, or has no record of the kind: an answer, not a fault. */
const EMPTY_ANSWERS: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA']);

/** Reads records of domains. */
export interface DnsResolver {
  /** TXT records of a name, the strings of each joined (RFC 7208, 3.3); empty: there are none. @throws DnsError */
  txt(name: string): Promise<readonly string[]>;
}

/** No server gave an answer: nothing is known about the name. */
export class DnsError extends Error {
  constructor(message: string, options?: { cause: unknown }) {
    super(message, options);
    this.name = 'DnsError';
  }
}

export interface DnsOptions {
  /** DNS_SERVERS: `host:port` or `[v6]:port`; empty: the system's. */
  readonly servers: readonly string[];
  readonly timeoutMs?: number;
  readonly tries?: number;
}

export function createResolver(options: DnsOptions): DnsResolver {
  let resolver: Promise<Resolver> | undefined;
  const connected = async (): Promise<Resolver> => {
    const made = new Resolver({ timeout: options.timeoutMs ?? TIMEOUT_MS, tries: options.tries ?? TRIES });
    if (options.servers.length > 0)
      made.setServers((await Promise.all(options.servers.map(addressesOf))).flat());
    return made;
  };
  return {
    async txt(name) {
      try {
        resolver ??= connected();
        const records = await (await resolver).resolveTxt(name);
        return records.slice(0, RECORDS_MAX).map((strings) => strings.join(''));
      } catch (error) {
        const { code = '' } = error as NodeJS.ErrnoException;
        if (EMPTY_ANSWERS.has(code)) return [];
        // A server's name that did not resolve may do so next time.
        if (error instanceof DnsError) resolver = undefined;
        throw error instanceof DnsError
          ? error
          : new DnsError(`no answer about ${name} (${code})`, { cause: error });
      }
    },
  };
}

/** Servers are asked by address; a name among them is looked up with the system's own, and stands for all its addresses. */
async function addressesOf(server: string): Promise<string[]> {
  const colon = server.lastIndexOf(':');
  const host = server.slice(0, colon).replace(/^\[|\]$/g, '');
  const port = server.slice(colon + 1);
  if (isIP(host) !== 0) return [server];
  try {
    const found = await lookup(host, { all: true });
    return found.map(({ address, family }) => (family === 6 ? `[${address}]:${port}` : `${address}:${port}`));
  } catch (error) {
    throw new DnsError(`the DNS server ${host} has no address`, { cause: error });
  }
}
