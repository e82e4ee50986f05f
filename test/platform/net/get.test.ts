import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/platform/logger/index.ts';
import { BodyTooLarge, createNet, PostTimeout, TargetRefused } from '../../../src/platform/net/index.ts';
import type { Net } from '../../../src/platform/net/index.ts';

const ends: (() => unknown)[] = [];

afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function serve(listener: RequestListener): Promise<string> {
  const server: Server = createServer(listener);
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/file?v=1`;
}

function open(allowPrivateTargets: boolean): Net {
  const net = createNet({ allowPrivateTargets, logger: silentLogger });
  ends.push(() => net.close());
  return net;
}

const bounds = { timeoutMs: 5_000, bytesMax: 1_000 };

describe('get', () => {
  it('gives the whole body of any length up to its bound', async () => {
    const asked: unknown[] = [];
    const url = await serve((req, res) => {
      asked.push(`${req.method} ${req.url}`);
      res.writeHead(200).write('x'.repeat(400));
      res.end('y'.repeat(600));
    });
    const answer = await open(true).get({ url, ...bounds });
    expect([answer.status, answer.body.toString()]).toEqual([200, 'x'.repeat(400) + 'y'.repeat(600)]);
    expect(asked).toEqual(['GET /file?v=1']);
  });

  it('refuses a longer body, and one that never ends', async () => {
    const longer = await serve((_req, res) => res.end('x'.repeat(1_001)));
    await expect(open(true).get({ url: longer, ...bounds })).rejects.toBeInstanceOf(BodyTooLarge);
    const endless = await serve((_req, res) => {
      res.on('error', () => undefined);
      const more = (): void => {
        while (res.write(Buffer.alloc(65_536)));
        res.once('drain', more);
      };
      more();
    });
    await expect(open(true).get({ url: endless, ...bounds })).rejects.toBeInstanceOf(BodyTooLarge);
  });

  it('takes no part of a body that drips past the deadline, or breaks off', async () => {
    const slow = await serve((_req, res) => void res.writeHead(200).write('start'));
    const late = open(true).get({ url: slow, ...bounds, timeoutMs: 200 });
    await expect(late).rejects.toBeInstanceOf(PostTimeout);
    const broken = await serve((_req, res) => {
      res.writeHead(200, { 'content-length': '100' });
      res.write('start', () => res.destroy());
    });
    await expect(open(true).get({ url: broken, ...bounds })).rejects.toThrow();
  });

  it('does not follow a redirect, and reaches nothing private', async () => {
    let reached = 0;
    const url = await serve((_req, res) => {
      reached += 1;
      res.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
    });
    expect((await open(true).get({ url, ...bounds })).status).toBe(302);
    await expect(open(false).get({ url, ...bounds })).rejects.toBeInstanceOf(TargetRefused);
    const hidden = url.replace('http://127.0.0.1', 'https://localhost');
    await expect(open(false).get({ url: hidden, ...bounds })).rejects.toBeInstanceOf(TargetRefused);
    expect(reached).toBe(1);
  });
});
