import { Problem } from '../../../kernel/problem.ts';
import { AudioError } from '../../../platform/audio/index.ts';
import type { AudioFault } from '../../../platform/audio/index.ts';

const PROBLEM_OF = {
  'not-audio': 'unsupported-media-type',
  empty: 'unprocessable',
  'too-long': 'unprocessable',
  'too-slow': 'unprocessable',
  busy: 'service-unavailable',
} as const satisfies Record<AudioFault, string>;

/** Faults of a client's file as refusals; everything else is as it was. */
export const refusalOf = (error: unknown): unknown =>
  error instanceof AudioError ? new Problem(PROBLEM_OF[error.fault], error.message) : error;
