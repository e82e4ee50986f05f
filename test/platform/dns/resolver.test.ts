import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createResolver, DnsError } from '../../../src/platform/dns/index.ts';
import { DnsServer } from './server.ts';

describe('the resolver', () => {
  let server: DnsServer;
  beforeEach(async () => void (server = await DnsServer.start()));
  afterEach(() => server.close());
  const resolver = (servers = [server.address]) => createResolver({ servers, timeoutMs: 150, tries: 1 });

  it('asks the server it was given and joins the strings of a record', async () => {
    server.zone.set('example.com', ['one', ['v=DKIM1; p=', 'MIIB', 'IjAN']]);
    expect(await resolver().txt('example.com')).toEqual(['one', 'v=DKIM1; p=MIIBIjAN']);
    expect(server.asked).toEqual(['example.com']);
  });

  it('finds nothing at names that do not exist or have no such record', async () => {
    server.zone.set('example.com', []);
    expect(await resolver().txt('example.com')).toEqual([]);
    expect(await resolver().txt('nothing.example.com')).toEqual([]);
  });

  it('tells a server without an answer from an answer', async () => {
    server.zone.set('example.com', 'servfail').set('example.org', 'silent');
    await expect(resolver().txt('example.com')).rejects.toThrow(DnsError);
    await expect(resolver().txt('example.org')).rejects.toThrow(DnsError);
  });

  it('tells a server that is not there', async () => {
    const gone = createSocket('udp4').bind(0, '127.0.0.1');
    await once(gone, 'listening');
    const { port } = gone.address();
    gone.close();
    await expect(resolver([`127.0.0.1:${port}`]).txt('example.com')).rejects.toThrow(DnsError);
    await expect(resolver(['nothing.invalid:53']).txt('example.com')).rejects.toThrow(DnsError);
  });

  it('takes a server by name', async () => {
    server.zone.set('example.com', ['one']);
    const port = server.address.split(':')[1]!;
    expect(await resolver([`localhost:${port}`]).txt('example.com')).toEqual(['one']);
  });

  it('reads no more records than its bound', async () => {
    server.zone.set(
      'example.com',
      Array.from({ length: 150 }, (_, n) => `r${n}`),
    );
    expect(await resolver().txt('example.com')).toHaveLength(100);
  });
});
