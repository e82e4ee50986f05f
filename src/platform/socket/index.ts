import { loadUws } from './uws.binding.ts';
import { UwsServer } from './uws.driver.ts';
import { WsServer } from './ws.driver.ts';
import type { SocketServer, SocketServerOptions } from './socket.type.ts';

export * from './socket.type.ts';
export { refusal } from './upgrade.answers.ts';
export { TimerWheel, WheelTimer } from './timer-wheel.ts';

/** SOCKET_DRIVER (runtime.md). */
export type DriverChoice = 'auto' | 'uws' | 'ws';

/** SOCKET_DRIVER asks for a driver that does not load here. */
export class DriverUnavailable extends Error {
  constructor(failures: string[]) {
    super(`SOCKET_DRIVER=uws, but no native binding of uWebSockets.js loads here (${failures.join('; ')})`);
    this.name = 'DriverUnavailable';
  }
}

/** True where a native binding of uWebSockets.js loads. */
export const uwsLoads = (): boolean => 'binding' in loadUws();

/**
 * The server of the driver asked for. `auto` takes uWebSockets.js where its native binding loads, else the `ws`
 * package, and tells `warn` why. Throws DriverUnavailable when `uws` is asked for and does not load.
 */
export function createSocketServer(
  choice: DriverChoice,
  options: SocketServerOptions,
  warn: (message: string) => void,
): SocketServer {
  if (choice === 'ws') return new WsServer(options);
  const loaded = loadUws();
  if ('binding' in loaded) return new UwsServer(loaded, options);
  if (choice === 'uws') throw new DriverUnavailable(loaded.failures);
  warn(
    'SLOW SOCKETS: uWebSockets.js does not load here, the ws package carries the sockets at a fraction of its ' +
      `sessions per core (${loaded.failures.join('; ')})`,
  );
  return new WsServer(options);
}
