import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../_util/index.ts';
import { silence } from './audio.ts';
import { Client } from './client.ts';
import { DRIVERS, socketWorld } from './world.ts';
import type { SocketWorld } from './world.ts';

/** Mutated frames of one run; the long run is FUZZ_FRAMES=1000000. */
const FRAMES = Number(process.env['FUZZ_FRAMES'] ?? 4_000);
const FRAMES_PER_SOCKET = 40;

/** mulberry32: the seed is printed, so that a run can be had again. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A frame of RFC 6455, right or wrong as asked. */
export function frame(
  opcode: number,
  payload: Uint8Array,
  options: { fin?: boolean; masked?: boolean; rsv?: number; claimedLength?: number } = {},
): Buffer {
  const { fin = true, masked = true, rsv = 0, claimedLength = payload.length } = options;
  const head = [(fin ? 0x80 : 0) | (rsv << 4) | opcode];
  const mask = masked ? 0x80 : 0;
  if (claimedLength < 126) head.push(mask | claimedLength);
  else if (claimedLength < 65_536) head.push(mask | 126, claimedLength >> 8, claimedLength & 0xff);
  else {
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(claimedLength));
    head.push(mask | 127, ...length);
  }
  if (!masked) return Buffer.concat([Buffer.from(head), payload]);
  const key = randomBytes(4);
  return Buffer.concat([
    Buffer.from(head),
    key,
    Buffer.from(payload.map((byte, i) => byte ^ (key[i % 4] ?? 0))),
  ]);
}

/** The close code in what a server sent after its 101, or null when it sent no close frame. */
function closeCodeIn(bytes: Buffer): number | null {
  let at = bytes.indexOf('\r\n\r\n') + 4;
  while (at >= 4 && at + 2 <= bytes.length) {
    const opcode = (bytes[at] ?? 0) & 0x0f;
    let length = (bytes[at + 1] ?? 0) & 0x7f;
    let start = at + 2;
    if (length === 126) {
      length = bytes.readUInt16BE(at + 2);
      start = at + 4;
    }
    if (opcode === 8) return length >= 2 ? bytes.readUInt16BE(start) : null;
    at = start + length;
  }
  return null;
}

const WELCOME = Buffer.from(JSON.stringify({ type: 'welcome', payload: { audio_encoding: 'mulaw' } }));

/** What a peer may be closed with for such frames: the contract's codes and those of the protocol itself. */
const DOCUMENTED = new Set([null, 1000, 1001, 1002, 1003, 1005, 1007, 1008, 1009, 1013]);

for (const driver of DRIVERS)
  describe(`hostile frames by ${driver}`, () => {
    let world: SocketWorld;
    let account: Awaited<ReturnType<SocketWorld['createAccount']>>;
    beforeAll(async () => {
      world = await socketWorld({ driver, maxSessions: 200 });
      account = await world.createAccount();
    });
    afterAll(() => world.close());

    const openRaw = async (): Promise<{ socket: Socket; received: () => Buffer; ended: Promise<void> }> => {
      const socket = connect(world.port, '127.0.0.1');
      const chunks: Buffer[] = [];
      const ended = new Promise<void>((resolve) => socket.on('close', () => resolve()));
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      // A reset is one of the ways in which a peer is cut off.
      socket.on('error', () => undefined);
      const lines = [
        `GET /carrier/ws?api_key=${account.detectionKey} HTTP/1.1`,
        'Host: a',
        'Upgrade: websocket',
        'Connection: Upgrade',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
        'Sec-WebSocket-Version: 13',
        '',
        '',
      ];
      socket.write(lines.join('\r\n'));
      await until(() => Buffer.concat(chunks).includes('\r\n\r\n'));
      return { socket, received: () => Buffer.concat(chunks), ended };
    };

    /** The service is alive: a fresh socket hears a call to its end. */
    const expectAlive = async (): Promise<void> => {
      const client = await Client.open(`${world.wsUrl}/carrier/ws?api_key=${account.detectionKey}`);
      client.send({ type: 'welcome', payload: { audio_encoding: 'mulaw' } });
      client.binary(silence(200));
      client.send({ command: 'stop' });
      expect((await client.closed).code).toBe(1000);
      expect(client.names()).toEqual(['ready', 'close', 'stopped']);
    };

    it.each([
      ['an unmasked frame', [frame(1, WELCOME, { masked: false })]],
      ['bad UTF-8', [frame(1, Buffer.from([0xc3, 0x28, 0xff]))]],
      ['a reserved bit', [frame(1, WELCOME, { rsv: 4 })]],
      ['a reserved opcode', [frame(5, WELCOME)]],
      ['a continuation of nothing', [frame(0, WELCOME)]],
      ['a fragmented ping', [frame(9, Buffer.from('x'), { fin: false })]],
      ['a ping over 125 bytes', [frame(9, Buffer.alloc(126))]],
      [
        'a text frame within fragments',
        [frame(1, WELCOME.subarray(0, 5), { fin: false }), frame(1, WELCOME)],
      ],
      ['a length of 2^62', [frame(2, Buffer.alloc(16), { claimedLength: 2 ** 62 })]],
      ['100 MiB announced', [frame(2, Buffer.alloc(16), { claimedLength: 100 * 1024 * 1024 })]],
    ])('ends a socket that sends %s', async (_name, frames) => {
      const { socket, received, ended } = await openRaw();
      for (const bytes of frames) socket.write(bytes);
      await ended;
      expect(DOCUMENTED).toContain(closeCodeIn(received()));
      await expectAlive();
    });

    it('puts fragments together, pings between them included', async () => {
      const { socket, received, ended } = await openRaw();
      socket.write(frame(1, WELCOME.subarray(0, 7), { fin: false }));
      socket.write(frame(9, Buffer.from('hello')));
      socket.write(frame(0, WELCOME.subarray(7)));
      socket.write(frame(2, silence(20).subarray(0, 80), { fin: false }));
      socket.write(frame(0, silence(20).subarray(80)));
      socket.write(frame(1, Buffer.from('{"command":"stop"}')));
      await until(() => received().includes('"stopped"'));
      expect(received().toString('latin1')).toContain('"duration_ms":20');
      socket.destroy();
      await ended;
    });

    it('ends a peer that never stops a fragmented message', async () => {
      const { socket, ended } = await openRaw();
      socket.write(frame(2, Buffer.alloc(1_000), { fin: false }));
      let open = true;
      void ended.then(() => (open = false));
      for (let i = 0; open && i < 10_000; i++) {
        if (!socket.write(frame(0, Buffer.alloc(60_000), { fin: false })))
          await Promise.race([ended, new Promise((resolve) => socket.once('drain', resolve))]);
      }
      await ended;
      await expectAlive();
    });

    it(`survives ${FRAMES} mutated frames`, async () => {
      const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 2 ** 31);
      process.stderr.write(`FUZZ_SEED=${seed}\n`);
      const random = generator(seed);
      const below = (limit: number): number => Math.floor(random() * limit);
      const texts = [
        '{"command":"stop"}',
        '{"command":"answered"}',
        '{"type":"ping"}',
        WELCOME.toString(),
        '{',
      ];
      const mutated = (): Buffer => {
        const payload =
          random() < 0.5
            ? Buffer.from(texts[below(texts.length)] ?? '')
            : Buffer.from(silence(20).subarray(0, below(161)));
        const opcode = random() < 0.9 ? 1 + below(2) : below(16);
        const bytes = frame(opcode, payload, { fin: random() < 0.95, masked: random() < 0.98 });
        if (random() < 0.2) bytes[below(bytes.length)] = below(256);
        return random() < 0.05 ? bytes.subarray(0, below(bytes.length)) : bytes;
      };
      for (let sent = 0; sent < FRAMES; sent += FRAMES_PER_SOCKET) {
        const { socket, received, ended } = await openRaw();
        if (random() < 0.8) socket.write(frame(1, WELCOME));
        for (let i = 0; i < FRAMES_PER_SOCKET; i++) socket.write(mutated());
        socket.end();
        await ended;
        expect(DOCUMENTED).toContain(closeCodeIn(received()));
        if (sent % (FRAMES_PER_SOCKET * 25) === 0) await expectAlive();
      }
      await expectAlive();
      await until(() => world.gateway.openSockets === 0);
      expect(world.gateway.admission.sessions).toBe(0);
      expect(await world.gateway.journal.flush(30_000)).toBe(true);
      expect(world.gateway.journal.dropped).toBe(0);
    });
  });
