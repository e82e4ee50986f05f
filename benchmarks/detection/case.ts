/** One call with a known truth, rendered when it is its turn so that hours of audio never lie in memory. */
import type { Random } from '../../samples/signal.ts';
import type { BeepTruth } from './corpus.ts';

export type Strategy = 'standard' | 'live_check' | 'beep_only';
export type VerdictType = 'live_person' | 'voicemail' | 'silence' | 'unknown';

/** What a case belongs to; figures are per group. */
export type Group =
  | 'recording'
  | 'short answer'
  | '1.5 s answer'
  | '2.5 s answer'
  | 'greeting'
  | 'greeting with beep'
  | 'silence'
  | 'tone'
  | 'early media'
  | 'beep mix'
  | 'beep hard'
  | 'real beep';

export interface Truth {
  /** The right final verdict; undefined: not judged. */
  verdict?: VerdictType;
  /** No live person is here, whatever else it is. */
  neverLive?: boolean;
  /** A person answered and waits for the caller to speak: "voicemail, final" hangs up on them. */
  personWaits?: boolean;
  /** Media time at which speech begins; undefined: none, or not known. */
  speechStartMs?: number;
  /** Record beeps; every other beep event is false. */
  beeps: readonly BeepTruth[];
}

export interface Case {
  id: string;
  group: Group;
  label: string;
  /** Folder of the recording it is made of, or `made` for signals made by rule. */
  source: string;
  strategy: Strategy;
  detectionTimeoutMs: number;
  truth: Truth;
  render(random: Random): Float32Array;
}

/** Contract, "Limits": the default of `detection_timeout_sec`. */
export const DETECTION_TIMEOUT_MS = 45_000;

/** A case with the usual strategy and timeout. */
export function standardCase(
  parts: Omit<Case, 'strategy' | 'detectionTimeoutMs'> &
    Partial<Pick<Case, 'strategy' | 'detectionTimeoutMs'>>,
): Case {
  return { strategy: 'standard', detectionTimeoutMs: DETECTION_TIMEOUT_MS, ...parts };
}

/** The same call under `live_check`. */
export function asLiveCheck(source: Case): Case {
  return { ...source, id: `${source.id} live_check`, strategy: 'live_check', detectionTimeoutMs: 10_000 };
}

/** A seed of a name (FNV-1a), so that a case sounds the same whatever runs before it. */
export function seedOf(name: string, seed: number): number {
  let hash = 0x811c9dc5 ^ seed;
  for (let i = 0; i < name.length; i += 1) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193) >>> 0;
  return hash;
}
