import { Problem } from '../../../kernel/problem.ts';
import { SpeechError } from '../../../platform/audio/index.ts';
import type { SpeechFault } from '../../../platform/audio/index.ts';
import { refusalOf } from '../media/media.refusal.ts';

const DETAIL_OF: Record<SpeechFault, string> = {
  missing: 'No speech engine is installed; see Speech in the operations guide.',
  busy: 'Too many texts wait to be spoken; try again soon.',
  'too-slow': 'The speech engine took too long; try again with a shorter text.',
  failed: 'The speech engine failed.',
};

/** Faults of the engine, and of what it made, as refusals; everything else is as it was. */
export const speechRefusalOf = (error: unknown): unknown =>
  error instanceof SpeechError
    ? new Problem('service-unavailable', DETAIL_OF[error.fault])
    : refusalOf(error);

export const noEngine = (): Problem => new Problem('service-unavailable', DETAIL_OF.missing);
