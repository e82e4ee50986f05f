import type { DeliveryHandlerOptions } from '../features/webhooks/index.ts';
import type { Metrics } from '../platform/metrics/index.ts';

/** Bounds in seconds for times from an event to its first POST; 0.15 is the promise. */
const DELAY_BUCKETS_SEC = [0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** What the worker counts of webhooks; `kind` is `detection` or `subscription`. */
export function deliveryMetrics(
  metrics: Metrics,
): Required<Pick<DeliveryHandlerOptions, 'observe' | 'observeDropped' | 'observeEndpoint'>> {
  const delays = metrics.histogram({
    name: 'tonegate_webhook_first_attempt_delay_seconds',
    help: 'From the event to the start of its first delivery attempt',
    labelNames: ['kind'],
    buckets: DELAY_BUCKETS_SEC,
  });
  const attempts = metrics.counter({
    name: 'tonegate_webhook_attempts_total',
    help: 'Delivery attempts by what they led to',
    labelNames: ['kind', 'state'],
  });
  const dropped = metrics.counter({
    name: 'tonegate_webhook_dropped_total',
    help: 'Due deliveries that were kept for a replay because their endpoint was paused or disabled',
  });
  const changes = metrics.counter({
    name: 'tonegate_webhook_endpoint_changes_total',
    help: 'Endpoints of subscriptions that became paused, disabled or, by answering, active again',
    labelNames: ['to'],
  });
  return {
    observe: ({ kind, state, attempt, sinceCreatedMs }) => {
      attempts.inc({ kind, state });
      if (attempt === 1) delays.observe({ kind }, sinceCreatedMs / 1_000);
    },
    observeDropped: () => dropped.inc(),
    observeEndpoint: ({ to }) => changes.inc({ to }),
  };
}
