export { createResolver, DnsError } from './resolver.ts';
export type { DnsOptions, DnsResolver } from './resolver.ts';
