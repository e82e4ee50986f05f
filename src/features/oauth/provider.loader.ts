import type * as Provided from 'oidc-provider';
import type { Logger } from '../../platform/logger/index.ts';

export type Library = typeof Provided;
type Say = (...words: unknown[]) => void;

const PREFIX = 'oidc-provider ';

/**
 * Loads oidc-provider when it is first needed, so that processes without the auth role do not carry it. While it loads it
 * tells the console that Node 20 is not supported upstream; our tests run it on Node 20, and stdout belongs to the ready
 * line: what it says goes to the log instead.
 */
export async function loadProvider(logger: Logger): Promise<Library> {
  const { info, warn } = globalThis.console as unknown as { info: Say; warn: Say };
  const divert =
    (pass: Say): Say =>
    (...words) => {
      if (typeof words[0] !== 'string' || !words[0].includes(PREFIX)) return pass(...words);
      logger.debug({ notice: words[0] }, 'A notice of the OAuth library.');
    };
  const own = { info: divert(info), warn: divert(warn) };
  Object.assign(globalThis.console, own);
  try {
    return await import('oidc-provider');
  } finally {
    Object.assign(globalThis.console, { info, warn });
  }
}
