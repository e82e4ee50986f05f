import type { MetricsSnapshot } from '../../platform/metrics/index.ts';

/** What a gateway process tells the main process. */
export type GatewayMessage =
  | { readonly type: 'ready'; readonly port: number; readonly driver: 'uws' | 'ws' }
  | { readonly type: 'wake'; readonly lane: string }
  | { readonly type: 'metrics'; readonly id: number; readonly metrics: MetricsSnapshot }
  | { readonly type: 'failed'; readonly message: string; readonly exitCode: number };

/** What the main process tells a gateway process. */
export type GatewayCommand =
  | { readonly type: 'drain'; readonly graceMs: number }
  | { readonly type: 'reload-tls' }
  | { readonly type: 'metrics'; readonly id: number };

/** A command, or null for anything else that comes over the channel. */
export function readCommand(message: unknown): GatewayCommand | null {
  if (typeof message !== 'object' || message === null) return null;
  const { type, graceMs, id } = message as Record<string, unknown>;
  if (type === 'drain' && typeof graceMs === 'number') return { type, graceMs };
  if (type === 'reload-tls') return { type };
  if (type === 'metrics' && typeof id === 'number') return { type, id };
  return null;
}
