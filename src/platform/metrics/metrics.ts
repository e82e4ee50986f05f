import { AggregatorRegistry, collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { CounterConfiguration, GaugeConfiguration, HistogramConfiguration } from 'prom-client';

type Config<T> = Omit<T, 'registers'>;

/** The numbers of one process (Prometheus). Each is registered here and nowhere else; names start `tonegate_`. */
export interface Metrics {
  counter<L extends string>(options: Config<CounterConfiguration<L>>): Counter<L>;
  gauge<L extends string>(options: Config<GaugeConfiguration<L>>): Gauge<L>;
  histogram<L extends string>(options: Config<HistogramConfiguration<L>>): Histogram<L>;
  /** JSON that travels between processes; aggregated by `aggregateMetrics`. */
  snapshot(): Promise<MetricsSnapshot>;
}

export type MetricsSnapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

export const METRICS_CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

/** A registry of its own with the process's default numbers (memory, event loop, handles) in it. */
export function createMetrics(options: { defaults: boolean } = { defaults: true }): Metrics {
  const registry = new Registry();
  if (options.defaults) collectDefaultMetrics({ register: registry });
  return {
    counter: (config) => new Counter({ ...config, registers: [registry] }),
    gauge: (config) => new Gauge({ ...config, registers: [registry] }),
    histogram: (config) => new Histogram({ ...config, registers: [registry] }),
    snapshot: () => registry.getMetricsAsJSON(),
  };
}

/** Prometheus text of several processes: counters, gauges and histograms are summed over them. */
export async function aggregateMetrics(snapshots: readonly MetricsSnapshot[]): Promise<string> {
  return AggregatorRegistry.aggregate(snapshots as unknown as object[]).metrics();
}
