import type { Metrics } from '../../platform/metrics/index.ts';
import type { FrameBytes } from '../../platform/socket/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { EventName } from './event.type.ts';
import type { LiveSession } from './live-session.ts';

/** One push in so many is timed; the clock is read for each of them anyway. */
const TIMED_SHARE = 64;

/** 5 µs to 10 ms. */
const PUSH_BUCKETS_SEC = [0.000005, 0.00001, 0.00002, 0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.005, 0.01];

export interface PlaneGauges {
  readonly sockets: () => number;
  readonly sessions: () => number;
  readonly journalBacklog: () => number;
  readonly journalDropped: () => number;
}

/** The numbers of a gateway. The hot path adds to a plain integer; Prometheus reads it when it asks. */
export class PlaneMetrics {
  #frames = 0;
  #reportedFrames = 0;
  readonly #clock: Clock;
  readonly #events: { inc(labels: { event: EventName }): void };
  readonly #verdicts: { inc(labels: { type: string }): void };
  readonly #pushSec: { observe(value: number): void };

  constructor(metrics: Metrics, clock: Clock, gauges: PlaneGauges) {
    this.#clock = clock;
    this.#events = metrics.counter({
      name: 'tonegate_detection_events_total',
      help: 'Events said by detection sessions',
      labelNames: ['event'],
    });
    this.#verdicts = metrics.counter({
      name: 'tonegate_detection_verdicts_total',
      help: 'Final verdicts of detection sessions',
      labelNames: ['type'],
    });
    this.#pushSec = metrics.histogram({
      name: 'tonegate_detection_push_seconds',
      help: `Time of one audio chunk in the addon, one chunk in ${TIMED_SHARE}`,
      buckets: PUSH_BUCKETS_SEC,
    });
    this.#mount(metrics, gauges);
  }

  get frames(): number {
    return this.#frames;
  }

  push(session: LiveSession, nowMs: number, bytes: FrameBytes, mediaMs: number | undefined): void {
    this.#frames++;
    session.push(nowMs, bytes, mediaMs);
    if (this.#frames % TIMED_SHARE === 0) this.#pushSec.observe((this.#clock.monotonicMs() - nowMs) / 1000);
  }

  event(event: EventName): void {
    this.#events.inc({ event });
  }

  verdict(type: string): void {
    this.#verdicts.inc({ type });
  }

  #mount(metrics: Metrics, gauges: PlaneGauges): void {
    const frames = metrics.counter({
      name: 'tonegate_detection_audio_frames_total',
      help: 'Audio chunks taken by detection sessions',
      collect: () => {
        frames.inc(this.#frames - this.#reportedFrames);
        this.#reportedFrames = this.#frames;
      },
    });
    const read = (name: string, help: string, value: () => number): void => {
      metrics.gauge({
        name,
        help,
        collect() {
          this.set(value());
        },
      });
    };
    read('tonegate_detection_sockets', 'Detection sockets open now', gauges.sockets);
    read('tonegate_detection_sessions', 'Detection sessions live now', gauges.sessions);
    read(
      'tonegate_detection_journal_backlog',
      'Session changes and events not yet in the database',
      gauges.journalBacklog,
    );
    read(
      'tonegate_detection_journal_dropped',
      'Events given up since the start: no room or refused',
      gauges.journalDropped,
    );
  }
}
