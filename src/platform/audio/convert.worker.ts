import { parentPort } from 'node:worker_threads';
import { AudioError } from './audio.type.ts';
import type { AudioFault, TelephoneAudio } from './audio.type.ts';
import { toTelephone } from './telephone.ts';
import type { TelephoneOptions } from './telephone.ts';

// The decoder writes its complaints to the console: they are about a client's bytes, not for our log.
Object.assign(console, { error: () => undefined });

/** A conversion thread answers each job with one message; a bug ends it. */
export interface ConversionJob {
  readonly bytes: Uint8Array;
  readonly options: TelephoneOptions;
}

export type ConversionAnswer =
  { readonly audio: TelephoneAudio } | { readonly fault: AudioFault; readonly message: string };

async function convert({ bytes, options }: ConversionJob): Promise<ConversionAnswer> {
  try {
    return { audio: await toTelephone(bytes, options) };
  } catch (error) {
    if (!(error instanceof AudioError)) throw error;
    return { fault: error.fault, message: error.message };
  }
}

parentPort?.on('message', (job: ConversionJob) => {
  // Unhandled on purpose: the rejection of a bug ends the thread, and whoever waits is told why.
  void convert(job).then((answer) => parentPort?.postMessage(answer));
});
