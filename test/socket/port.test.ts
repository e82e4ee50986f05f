import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createSocketServer, TimerWheel, WheelTimer } from '../../src/platform/socket/index.ts';
import type { Socket, SocketHandler, SocketServer } from '../../src/platform/socket/index.ts';
import { until } from '../_util/index.ts';
import { Client } from './client.ts';
import { DRIVERS } from './world.ts';
import type { Driver } from './world.ts';

/** Remembers what its socket did. */
class Recorder implements SocketHandler {
  socket: Socket | null = null;
  closedWith: number | null = null;
  texts = 0;
  readonly #onText: (socket: Socket) => void;

  constructor(onText: (socket: Socket) => void = () => undefined) {
    this.#onText = onText;
  }

  onOpen(socket: Socket): void {
    this.socket = socket;
  }
  onText(): void {
    this.texts++;
    if (this.socket) this.#onText(this.socket);
  }
  onBinary(): void {
    this.onText();
  }
  onClose(code: number): void {
    this.closedWith = code;
  }
}

async function serve(
  driver: Driver,
  handler: SocketHandler,
): Promise<{ server: SocketServer; port: number; faults: unknown[] }> {
  const faults: unknown[] = [];
  const server = createSocketServer(
    driver,
    {
      host: '127.0.0.1',
      port: 0,
      onUpgrade: () => Promise.resolve({ accept: handler }),
      onFault: (error) => faults.push(error),
    },
    () => undefined,
  );
  return { server, port: await server.listen(), faults };
}

describe.each(DRIVERS)('the Socket port by %s', (driver) => {
  it('closes a peer that reads too slowly with 1013', async () => {
    const line = 'x'.repeat(100_000);
    const handler = new Recorder((socket) => socket.sendText(line));
    const { server, port } = await serve(driver, handler);
    const client = await Client.open(`ws://127.0.0.1:${port}/`);
    client.ws.removeAllListeners('message');
    client.ws.pause();
    for (let i = 0; i < 400; i++) client.text('more');
    // One read of the service takes all of them: what they call for waits unsent, as the peer does not read.
    await until(() => handler.texts > 0);
    client.ws.resume();
    expect((await client.closed).code).toBe(1013);
    await server.close();
  });

  it('closes with 1013 and reports it when a handler throws; the others go on', async () => {
    let count = 0;
    const handler = new Recorder((socket) => {
      if (++count === 1) throw new Error('planted');
      socket.sendText('{"type":"pong"}');
    });
    const { server, port, faults } = await serve(driver, handler);
    const first = await Client.open(`ws://127.0.0.1:${port}/`);
    first.text('x');
    expect((await first.closed).code).toBe(1013);
    expect(String(faults[0])).toContain('planted');
    const second = await Client.open(`ws://127.0.0.1:${port}/`);
    second.text('x');
    await second.waitFor('pong');
    second.terminate();
    await second.closed;
    await until(() => server.openSockets === 0);
    await server.close();
  });

  it('survives a peer that leaves while its upgrade is decided', async () => {
    let decide: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => (decide = resolve));
    const handler = new Recorder();
    const server = createSocketServer(
      driver,
      {
        host: '127.0.0.1',
        port: 0,
        onUpgrade: async () => {
          await asked;
          return { accept: handler };
        },
        onFault: () => undefined,
      },
      () => undefined,
    );
    const port = await server.listen();
    const leaving = new Client(`ws://127.0.0.1:${port}/`);
    await new Promise((resolve) => leaving.ws.once('upgrade', resolve).once('error', resolve).terminate());
    decide();
    const staying = await Client.open(`ws://127.0.0.1:${port}/`);
    expect(server.openSockets).toBeLessThanOrEqual(2);
    staying.terminate();
    await until(() => server.openSockets === 0);
    await server.close();
  });

  it('does nothing when asked to send after the end', async () => {
    const handler = new Recorder((socket) => socket.end(1000, 'bye'));
    const { server, port } = await serve(driver, handler);
    const client = await Client.open(`ws://127.0.0.1:${port}/`);
    client.text('x');
    expect(await client.closed).toEqual({ code: 1000, reason: 'bye' });
    await until(() => handler.closedWith !== null);
    handler.socket?.sendText('late');
    handler.socket?.end(1001, 'late');
    expect(server.openSockets).toBe(0);
    await server.close();
  });
});

it('drops half-open sockets, whose peers answer nothing, by every driver', { timeout: 90_000 }, async () => {
  await Promise.all(
    DRIVERS.map(async (driver) => {
      const handler = new Recorder();
      const { server, port } = await serve(driver, handler);
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      const lines = ['GET / HTTP/1.1', 'Host: a', 'Upgrade: websocket', 'Connection: Upgrade'];
      lines.push('Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Version: 13', '', '');
      socket.write(lines.join('\r\n'));
      await until(() => server.openSockets === 1);
      // It reads nothing and says nothing, as a peer behind a dead wire.
      socket.pause();
      await until(() => server.openSockets === 0, 80_000);
      expect(handler.closedWith).not.toBeNull();
      socket.destroy();
      await server.close();
    }),
  );
});

describe('the timer wheel', () => {
  const owner = (fired: string[], name: string): { onTimer(): void } => ({
    onTimer: () => void fired.push(name),
  });
  const rethrow = (error: unknown): never => {
    throw error;
  };

  it('fires each timer once, never early, and at most one slot late', () => {
    const wheel = new TimerWheel(0);
    const firedAtMs = new Map<number, number>();
    const deadlines = [1, 24, 25, 26, 1_000, 25_599, 25_600, 25_601, 60_000, 300_000];
    let nowMs = 0;
    for (const deadlineMs of deadlines)
      wheel.schedule(new WheelTimer({ onTimer: () => void firedAtMs.set(deadlineMs, nowMs) }), deadlineMs);
    for (; nowMs <= 310_000; nowMs += 10) wheel.advance(nowMs, rethrow);
    expect([...firedAtMs.keys()].sort((a, b) => a - b)).toEqual(deadlines);
    for (const [deadlineMs, atMs] of firedAtMs) {
      expect(atMs).toBeGreaterThanOrEqual(deadlineMs);
      expect(atMs - deadlineMs).toBeLessThan(50);
    }
  });

  it('cancels and moves timers, also from within one that fires', () => {
    const wheel = new TimerWheel(0);
    const fired: string[] = [];
    const cancelled = new WheelTimer(owner(fired, 'cancelled'));
    const moved = new WheelTimer(owner(fired, 'moved'));
    const first = new WheelTimer({
      onTimer: () => {
        fired.push('first');
        wheel.cancel(cancelled);
        wheel.schedule(moved, 5_000);
      },
    });
    wheel.schedule(cancelled, 100);
    wheel.schedule(moved, 100);
    wheel.schedule(first, 100);
    wheel.advance(200, rethrow);
    expect(fired).toEqual(['first']);
    wheel.advance(5_100, rethrow);
    expect(fired).toEqual(['first', 'moved']);
  });

  it('catches up after a pause longer than a turn, and turns on after a fault', () => {
    const wheel = new TimerWheel(0);
    const fired: string[] = [];
    const faults: unknown[] = [];
    wheel.schedule(
      new WheelTimer({
        onTimer: () => {
          throw new Error('planted');
        },
      }),
      10,
    );
    wheel.schedule(new WheelTimer(owner(fired, 'a')), 20_000);
    wheel.schedule(new WheelTimer(owner(fired, 'b')), 500_000);
    wheel.advance(400_000, (error) => faults.push(error));
    expect([fired, faults.length]).toEqual([['a'], 1]);
    wheel.advance(500_100, rethrow);
    expect(fired).toEqual(['a', 'b']);
  });
});
