/**
 * A detection socket on the `ws` package, the way most people would write it: welcome → ready, binary frames into a
 * detector, events out as JSON. What the detector is comes from the peer. Keeps no data, knows no keys, sends no
 * webhooks: cheaper than the real service in everything but the path that is measured.
 */
import { WebSocketServer } from 'ws';

/** More text than a welcome needs. */
const PAYLOAD_BYTES_MAX = 64 * 1024;
const TICK_MS = 250;

/**
 * Serves on PORT. `open(options)` answers a detector: `push(nowMs, bytes)`, `tick(nowMs)` and `stop(nowMs)` answer a
 * list of events or null.
 */
export function serve(open) {
  const server = new WebSocketServer({
    host: '127.0.0.1',
    port: Number(process.env.PORT ?? 0),
    perMessageDeflate: false,
    maxPayload: PAYLOAD_BYTES_MAX,
  });
  const detectors = new Map();
  let nextSession = 1;

  server.on('connection', (socket) => {
    let detector = null;
    const sessionId = `session-${nextSession++}`;
    const say = (event, payload) =>
      socket.send(JSON.stringify({ type: 'event', event, payload: { session_id: sessionId, ...payload } }));
    const sayAll = (events) => {
      for (const { event, timestampMs, ...fields } of events ?? []) {
        say(event, { timestamp_ms: timestampMs, ...fields });
      }
    };
    socket.on('message', (data, isBinary) => {
      if (isBinary) {
        if (detector) sayAll(detector.push(performance.now(), data));
        return;
      }
      const frame = JSON.parse(data.toString('utf8'));
      if (frame.type === 'ping') socket.send('{"type":"pong"}');
      if (frame.type === 'welcome' && !detector) {
        const payload = frame.payload ?? {};
        detector = open({
          encoding: payload.audio_encoding ?? 'pcm16',
          sampleRateHz: payload.sample_rate_hz ?? 8000,
          strategy: payload.strategy ?? 'standard',
          detectionTimeoutMs: (payload.detection_timeout_sec ?? 45) * 1000,
        });
        detectors.set(detector, sayAll);
        say('ready', { timestamp_ms: 0 });
      }
      if (frame.command === 'stop' && detector) {
        sayAll(detector.stop(performance.now()));
        say('close', { reason: 'stop' });
        say('stopped', {});
        socket.close(1000, 'stop');
      }
    });
    socket.on('error', () => socket.terminate());
    socket.on('close', () => {
      detectors.delete(detector);
      detector?.close();
    });
  });

  setInterval(() => {
    const nowMs = performance.now();
    for (const [detector, sayAll] of detectors) sayAll(detector.tick(nowMs));
  }, TICK_MS);

  server.on('listening', () => {
    console.log(JSON.stringify({ event: 'ready', port: server.address().port }));
  });
}
