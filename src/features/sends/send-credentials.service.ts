import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import { Problem } from '../../kernel/problem.ts';
import type { ProblemCode } from '../../kernel/problem.ts';
import type { Authenticate, RequestCredentials } from '../../platform/http/index.ts';
import type { SendChannel } from '../delivery-rules/index.ts';
import { SCOPE_OF } from './channels.rules.ts';

const REFUSALS: ReadonlySet<ProblemCode> = new Set(['unauthorized', 'forbidden', 'insufficient-scope']);

/**
 * Judges the credentials of send requests. What is refused here is outcome 3007 (contract, Authentication 8; supplement 12 and
 * 13, Sends): wrong, half a pair, of a suspended account, without the channel's scope, a site token.
 */
export class SendCredentials {
  readonly #authenticate: Authenticate;

  constructor(options: { authenticate: Authenticate }) {
    this.#authenticate = options.authenticate;
  }

  /** Null: refused. @throws Problem service-unavailable */
  async judge(credentials: RequestCredentials, channel: SendChannel): Promise<Caller | null> {
    try {
      const caller = await this.#authenticate(credentials);
      if (caller.kind === 'site_token') return null;
      requireScope(caller, SCOPE_OF[channel]);
      return caller;
    } catch (error) {
      if (error instanceof Problem && REFUSALS.has(error.code)) return null;
      throw error;
    }
  }
}
