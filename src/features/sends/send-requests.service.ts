import type { Clock } from '../../kernel/clock.ts';
import type { Ids } from '../../kernel/ids.ts';
import type { RequestCredentials } from '../../platform/http/index.ts';
import type { CredentialReports, RefusedRequest } from './credential-reports.service.ts';
import type { SendCredentials } from './send-credentials.service.ts';
import type { AcceptSends } from './send.type.ts';

export interface SendRequest extends RefusedRequest {
  readonly credentials: RequestCredentials;
  readonly idempotencyKey: string | undefined;
}

export interface SendRequestsOptions {
  readonly credentials: Pick<SendCredentials, 'judge'>;
  readonly reports: Pick<CredentialReports, 'report'>;
  readonly accept: AcceptSends;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Requests of the four send routes, which are all answered alike: a refused credential is only told to callback_url. */
export class SendRequests {
  readonly #options: SendRequestsOptions;

  constructor(options: SendRequestsOptions) {
    this.#options = options;
  }

  /** The message_id; of a refused request one that finds nothing. @throws Problem too-many-requests, service-unavailable */
  async take({ credentials, idempotencyKey, ...of }: SendRequest): Promise<string> {
    const { accept, reports, clock, ids } = this.#options;
    const caller = await this.#options.credentials.judge(credentials, of.channel);
    if (caller === null) {
      reports.report(of);
      return ids.timed(clock.nowMs());
    }
    return accept.accept({
      ...{ caller, channel: of.channel, version: 2, request: of.request },
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    });
  }
}
