export { aggregateMetrics, createMetrics, METRICS_CONTENT_TYPE } from './metrics.ts';
export type { Metrics, MetricsSnapshot } from './metrics.ts';
