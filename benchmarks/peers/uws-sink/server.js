/**
 * The bare limit: uWebSockets.js that takes every frame and does nothing with it. Answers the first text frame of a
 * socket with `ready`, so that the load generator speaks to it as to the others. TLS when TLS_CERT_FILE and
 * TLS_KEY_FILE are set. Listens on PORT; keeps no data.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

function loadBinding() {
  const binary = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
  const failures = [];
  for (const [name, folder] of [
    ['uws-node22', '.'],
    ['uws-node20', '../binaries'],
  ]) {
    try {
      return require(join(dirname(require.resolve(name)), folder, binary));
    } catch (error) {
      failures.push(`${name}: ${String(error.message).split('\n')[0]}`);
    }
  }
  throw new Error(`no native uWebSockets.js loads here: ${failures.join('; ')}`);
}

const uws = loadBinding();
const { TLS_CERT_FILE: cert, TLS_KEY_FILE: key, PORT = '0' } = process.env;
const app = cert && key ? uws.SSLApp({ cert_file_name: cert, key_file_name: key }) : uws.App();

app.ws('/*', {
  maxPayloadLength: 64 * 1024,
  maxBackpressure: 1024 * 1024,
  idleTimeout: 120,
  compression: 0,
  upgrade(res, req, context) {
    res.upgrade(
      { greeted: false },
      req.getHeader('sec-websocket-key'),
      req.getHeader('sec-websocket-protocol'),
      req.getHeader('sec-websocket-extensions'),
      context,
    );
  },
  message(ws, _message, isBinary) {
    if (isBinary || ws.greeted) return;
    ws.greeted = true;
    ws.send('{"type":"event","event":"ready","payload":{}}', false, false);
  },
});
app.listen('127.0.0.1', Number(PORT), (token) => {
  if (!token) throw new Error(`port ${PORT} is taken`);
  console.log(JSON.stringify({ event: 'ready', port: uws.us_socket_local_port(token) }));
});
