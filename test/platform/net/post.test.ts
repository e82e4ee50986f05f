import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Server as TcpServer, TcpNetConnectOpts } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/platform/logger/index.ts';
import {
  createNet,
  PostTimeout,
  RESPONSE_BYTES_MAX,
  TargetRefused,
} from '../../../src/platform/net/index.ts';
import type { Net, NetBoundary } from '../../../src/platform/net/index.ts';
import { until } from '../../_util/until.ts';
import { PRIVATE_ADDRESSES, PUBLIC_ADDRESSES } from './vectors.ts';

const servers: (Server | TcpServer)[] = [];
const nets: Net[] = [];

afterEach(async () => {
  await Promise.all(nets.splice(0).map((net) => net.close()));
  for (const server of servers.splice(0)) {
    if ('closeAllConnections' in server) server.closeAllConnections();
    server.close();
  }
});

async function listen<T extends Server | TcpServer>(server: T): Promise<number> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const serve = (listener: RequestListener): Promise<number> => listen(createServer(listener));

function open(allowPrivateTargets: boolean, boundary?: NetBoundary): Net {
  const net = createNet({ allowPrivateTargets, logger: silentLogger, boundary });
  nets.push(net);
  return net;
}

const request = (url: string, timeoutMs = 5_000) => ({
  ...{ url, timeoutMs, headers: { 'content-type': 'application/json' }, body: '{}' },
});

type Lookup = NonNullable<TcpNetConnectOpts['lookup']>;

/** What lies outside: names resolve as told, and every dial is written down and ends at a local server. */
class FakeOutside implements NetBoundary {
  readonly dialled: string[] = [];
  readonly #names: Record<string, string[]>;
  readonly #port: number;
  readonly #reached: string | undefined;

  /** `reached`: the address that a connection claims to have reached, whatever was dialled. */
  constructor(names: Record<string, string[]>, port: number, reached?: string) {
    this.#names = names;
    this.#port = port;
    this.#reached = reached;
  }

  async resolve(hostname: string) {
    const found = this.#names[hostname];
    if (!found) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
    return found.map((address) => ({ address, family: address.includes(':') ? (6 as const) : (4 as const) }));
  }

  connect(options: TcpNetConnectOpts) {
    const { host = '', lookup } = options;
    let reached = this.#reached;
    const through: Lookup = (hostname, lookupOptions, callback) => {
      (lookup as Lookup)(hostname, { ...lookupOptions, all: true }, (error, found) => {
        if (error) return callback(error, '', 4);
        const first = (found as { address: string }[])[0]?.address ?? '';
        this.dialled.push(first);
        reached ??= first;
        callback(null, [{ address: '127.0.0.1', family: 4 }] as never);
      });
    };
    const isLiteral = /^[\d.]+$|:/.test(host);
    if (isLiteral) {
      this.dialled.push(host);
      reached ??= host;
    }
    const socket = connect({
      ...options,
      host: isLiteral ? '127.0.0.1' : host,
      port: this.#port,
      lookup: through,
    });
    Object.defineProperty(socket, 'remoteAddress', { get: () => reached });
    return socket;
  }
}

describe('post reaches nothing private', () => {
  it.each(PRIVATE_ADDRESSES)('not %s by a name', async (address) => {
    let reached = 0;
    const port = await listen(createTcpServer(() => void (reached += 1)));
    const outside = new FakeOutside({ 'rebound.example': [address] }, port);
    const net = open(false, outside);
    await expect(net.post(request('https://rebound.example/'))).rejects.toBeInstanceOf(TargetRefused);
    await expect(net.checkUrl('https://rebound.example/')).rejects.toBeInstanceOf(TargetRefused);
    expect([outside.dialled, reached]).toEqual([[], 0]);
  });

  it('not a name with one private address among public ones', async () => {
    const outside = new FakeOutside({ 'mixed.example': ['8.8.8.8', '10.0.0.1'] }, 1);
    const net = open(false, outside);
    await expect(net.post(request('https://mixed.example/'))).rejects.toMatchObject({ reason: 'address' });
    await expect(net.checkUrl('https://mixed.example/')).rejects.toMatchObject({ reason: 'address' });
    expect(outside.dialled).toEqual([]);
  });

  it('not a name that was public when it was registered (rebinding)', async () => {
    const names: Record<string, string[]> = { 'moving.example': ['8.8.8.8'] };
    const outside = new FakeOutside(names, 1);
    const net = open(false, outside);
    await net.checkUrl('https://moving.example/');
    names['moving.example'] = ['127.0.0.1'];
    await expect(net.post(request('https://moving.example/'))).rejects.toMatchObject({ reason: 'address' });
    expect(outside.dialled).toEqual([]);
  });

  it('not an address other than the one dialled: nothing is sent to it', async () => {
    const bytes: Buffer[] = [];
    let isConnected = false;
    const server = createTcpServer((socket) => {
      isConnected = true;
      socket.on('data', (chunk) => bytes.push(chunk)).on('error', () => undefined);
    });
    const port = await listen(server);
    const outside = new FakeOutside({ 'a.example': ['8.8.8.8'] }, port, '10.0.0.1');
    await expect(open(false, outside).post(request('https://a.example/'))).rejects.toMatchObject({
      reason: 'address',
    });
    await until(() => isConnected);
    expect(Buffer.concat(bytes)).toHaveLength(0);
  });

  it('not the address a redirect points to: the redirect is the answer', async () => {
    let reached = 0;
    const inner = await serve((_req, res) => {
      reached += 1;
      res.end();
    });
    const outer = await serve((_req, res) => {
      res.writeHead(302, { location: `http://127.0.0.1:${inner}/` }).end();
    });
    const answer = await open(true).post(request(`http://127.0.0.1:${outer}/`));
    expect([answer.status, reached]).toEqual([302, 0]);
  });

  it('not through a proxy of the environment', async () => {
    let proxied = 0;
    const proxy = await serve((_req, res) => {
      proxied += 1;
      res.end();
    });
    const port = await serve((_req, res) => void res.end());
    const before = { ...process.env };
    Object.assign(process.env, {
      HTTP_PROXY: `http://127.0.0.1:${proxy}`,
      http_proxy: `http://127.0.0.1:${proxy}`,
    });
    try {
      await open(true).post(request(`http://127.0.0.1:${port}/`));
    } finally {
      process.env = before;
    }
    expect(proxied).toBe(0);
  });
});

describe('post reaches what is public', () => {
  it.each(PUBLIC_ADDRESSES)('%s, by a name and by itself', async (address) => {
    // A receiver that hangs up: reaching it is what counts, and certificates of public names cannot be had here.
    const port = await listen(createTcpServer((socket) => socket.destroy()));
    const outside = new FakeOutside({ 'public.example': [address] }, port);
    const net = open(false, outside);
    const host = address.includes(':') ? `[${address}]` : address;
    await expect(net.checkUrl('https://public.example/')).resolves.toBeUndefined();
    await expect(net.post(request('https://public.example/'))).rejects.not.toBeInstanceOf(TargetRefused);
    await expect(net.post(request(`https://${host}/`))).rejects.not.toBeInstanceOf(TargetRefused);
    expect(outside.dialled).toEqual([address, address]);
  });

  it('accepts a name that does not resolve now; posting to it fails as a fault of the name', async () => {
    const net = open(false, new FakeOutside({}, 1));
    await expect(net.checkUrl('https://nowhere.example/')).resolves.toBeUndefined();
    await expect(net.post(request('https://nowhere.example/'))).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });
});

describe('post', () => {
  it('sends body and headers as they are and gives the answer', async () => {
    const port = await serve(async (req, res) => {
      let body = '';
      for await (const chunk of req) body += String(chunk);
      res.writeHead(201, { 'X-Echo': String(req.headers['x-mine']) }).end(`${req.method} ${req.url} ${body}`);
    });
    const url = `http://127.0.0.1:${port}/a/b?c=d`;
    const answer = await open(true).post({ ...request(url), headers: { 'X-Mine': 'yes' }, body: '{"ü":1}' });
    expect(answer).toMatchObject({ status: 201, headers: { 'x-echo': 'yes' } });
    expect(answer.body.toString()).toBe('POST /a/b?c=d {"ü":1}');
    expect(answer.durationMs).toBeGreaterThan(0);
  });

  it('gives up on a receiver that never answers', async () => {
    const port = await listen(createTcpServer(() => undefined));
    const pending = open(true).post(request(`http://127.0.0.1:${port}/`, 200));
    await expect(pending).rejects.toBeInstanceOf(PostTimeout);
  });

  it('cuts a body off at its bound', async () => {
    const port = await serve((_req, res) => {
      res.on('error', () => undefined);
      const chunk = Buffer.alloc(65_536, 'x');
      const more = (): void => {
        while (res.write(chunk));
        res.once('drain', more);
      };
      more();
    });
    const answer = await open(true).post(request(`http://127.0.0.1:${port}/`));
    expect([answer.status, answer.body.length]).toEqual([200, RESPONSE_BYTES_MAX]);
  });

  it('takes the head as the answer when the body drips past the deadline', async () => {
    const port = await serve((_req, res) => {
      res.writeHead(200).write('start');
    });
    const answer = await open(true).post(request(`http://127.0.0.1:${port}/`, 300));
    expect([answer.status, answer.body.toString()]).toEqual([200, 'start']);
  });

  it('names refused connections, lost ones, and answers that are no HTTP', async () => {
    const closed = createServer();
    const port = await listen(closed);
    closed.close();
    await once(closed, 'close');
    await expect(open(true).post(request(`http://127.0.0.1:${port}/`))).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    });

    const dropping = await listen(createTcpServer((socket) => socket.once('data', () => socket.destroy())));
    await expect(open(true).post(request(`http://127.0.0.1:${dropping}/`))).rejects.toMatchObject({
      code: expect.stringMatching(/ECONNRESET|UND_ERR_SOCKET/) as string,
    });

    const odd = await listen(
      createTcpServer((socket) => socket.once('data', () => socket.end('SSH-2.0-x\r\n\r\n'))),
    );
    await expect(open(true).post(request(`http://127.0.0.1:${odd}/`))).rejects.toMatchObject({
      name: 'HTTPParserError',
    });
  });

  it('refuses a certificate that nobody vouches for', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tonegate-tls-'));
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const options = [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '2',
    ];
    execFileSync('openssl', [...options, '-subj', '/CN=localhost', '-keyout', key, '-out', cert], {
      stdio: 'ignore',
    });
    const server = createTlsServer(
      { key: readFileSync(key), cert: readFileSync(cert) },
      (_req, res) => void res.end(),
    );
    rmSync(folder, { recursive: true });
    const port = await listen(server);
    await expect(open(true).post(request(`https://localhost:${port}/`))).rejects.toMatchObject({
      code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    });
  });

  it("ends when the caller's signal aborts", async () => {
    const port = await listen(createTcpServer(() => undefined));
    const abort = new AbortController();
    const pending = open(true).post({ ...request(`http://127.0.0.1:${port}/`), signal: abort.signal });
    abort.abort();
    await expect(pending).rejects.toMatchObject({ name: 'AbortError' });
  });
});
