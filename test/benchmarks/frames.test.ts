import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocketServer, type RawData } from 'ws';

import { maskedFrame, parseFrames } from '../../benchmarks/gateway/frames.ts';
import { openWire, Wire } from '../../benchmarks/gateway/wire.ts';

describe('the load generator’s socket against another implementation', () => {
  let server: WebSocketServer;
  beforeEach(async () => {
    server = new WebSocketServer({
      host: '127.0.0.1',
      port: 0,
      perMessageDeflate: false,
      verifyClient: ({ req }: { req: IncomingMessage }) => req.url !== '/no',
    });
    server.on('connection', (socket) => {
      socket.on('message', (data: RawData, isBinary) => {
        const bytes = data as Buffer;
        socket.send(
          `${isBinary ? 'binary' : 'text'} ${bytes.length} ${bytes.every((byte) => byte === 0x5a)} ${'x'.repeat(bytes.length)}`,
        );
      });
    });
    await once(server, 'listening');
  });
  afterEach(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });

  const open = (path: string, onText: (text: string) => void): Promise<Wire | number> =>
    openWire({
      host: '127.0.0.1',
      port: (server.address() as AddressInfo).port,
      path,
      tls: false,
      headers: {},
      onText: (_, text) => onText(text),
      onEnd: () => undefined,
    });

  it('is understood, and understands, at every length of a frame', async () => {
    const lengths = [0, 1, 125, 126, 160, 65_535];
    const answers: string[] = [];
    let onAll: () => void = () => undefined;
    const all = new Promise<void>((resolve) => (onAll = resolve));
    const wire = await open('/', (text) => {
      answers.push(text);
      if (answers.length === lengths.length) onAll();
    });
    if (!(wire instanceof Wire)) throw new Error(`refused with ${wire}`);
    for (const length of lengths) wire.send(maskedFrame(Buffer.alloc(length, 0x5a), 'binary'));
    await all;
    wire.destroy();
    expect(answers).toEqual(lengths.map((length) => `binary ${length} true ${'x'.repeat(length)}`));
  });

  it('answers the status of a refused upgrade', async () => {
    expect(await open('/no', () => undefined)).toBe(401);
  });
});

describe('frames', () => {
  it('refuse a payload that does not fit', () => {
    expect(() => maskedFrame(new Uint8Array(65_536), 'text')).toThrow(RangeError);
  });

  it('are found in any cutting of a server’s bytes', () => {
    const whole = Buffer.from([0x81, 3, 97, 98, 99, 0x88, 2, 3, 0xe8, 0x89, 0]);
    for (let cut = 0; cut <= whole.length; cut += 1) {
      const first = parseFrames(whole.subarray(0, cut));
      const second = parseFrames(Buffer.concat([first.rest, whole.subarray(cut)]));
      const frames = [...first.frames, ...second.frames];
      expect(frames.map(({ kind }) => kind)).toEqual(['text', 'close', 'ping']);
      expect(frames[0]!.payload.toString()).toBe('abc');
      expect(second.rest).toHaveLength(0);
    }
  });

  it('refuse a length that no server of ours sends', () => {
    expect(() => parseFrames(Buffer.from([0x82, 127, 0, 0, 0, 0, 0xff, 0, 0, 0]))).toThrow(RangeError);
  });
});
