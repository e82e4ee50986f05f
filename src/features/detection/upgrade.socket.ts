import { Problem } from '../../kernel/problem.ts';
import type { ProblemCode } from '../../kernel/problem.ts';
import { headerOf } from '../../platform/socket/index.ts';
import type { UpgradeDecision, UpgradeRequest } from '../../platform/socket/index.ts';
import type { DetectionPlane } from './connection.ts';
import { GeneralConnection } from './general.connection.ts';
import { PlatformConnection } from './platform.connection.ts';
import { judgeIdentity } from './standing.rules.ts';
import type { StandingFault } from './standing.rules.ts';
import { KeyringUnavailable } from './keyring.service.ts';
import { presentRefusal } from './upgrade.present.ts';

export const GENERAL_PATH = '/carrier/ws';

/** Longest key that is looked at; ours have some 55 characters. */
const KEY_LENGTH_MAX = 256;

/** interface.md, Response envelope: the caller's own request id. */
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

const FAULTS: Readonly<Record<StandingFault, { code: ProblemCode; detail: string }>> = {
  unauthorized: { code: 'unauthorized', detail: 'The Detection key is unknown, revoked or expired.' },
  forbidden: { code: 'forbidden', detail: 'Detection is switched off for the account.' },
  payment_required: { code: 'payment-required', detail: 'The account has no funds.' },
};

export interface UpgradeGateOptions {
  readonly plane: DetectionPlane;
  /** Sockets open now. */
  readonly openSockets: () => number;
  readonly platformName: string;
  readonly publicUrl: string;
}

/** Decides who gets a detection socket (interface.md, Detection upgrade; supplement 13, Upgrade). */
export class UpgradeGate {
  readonly #options: UpgradeGateOptions;
  readonly #platformPaths: ReadonlySet<string>;
  readonly #signatureHeader: string;
  #judging = 0;

  constructor(options: UpgradeGateOptions) {
    this.#options = options;
    this.#platformPaths = new Set([`${GENERAL_PATH}/${options.platformName}`, `${GENERAL_PATH}/platform`]);
    this.#signatureHeader = `x-${options.platformName}-signature`;
  }

  async decide(request: UpgradeRequest): Promise<UpgradeDecision> {
    this.#judging++;
    try {
      return { accept: await this.#connect(request) };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return {
        refuse: presentRefusal(error, { ...this.#trace(request), publicUrl: this.#options.publicUrl }),
      };
    } finally {
      this.#judging--;
    }
  }

  #connect(request: UpgradeRequest): Promise<GeneralConnection> | PlatformConnection {
    const isPlatform = this.#platformPaths.has(request.path);
    if (!isPlatform && request.path !== GENERAL_PATH)
      throw new Problem('not-found', `Detection sockets are at ${GENERAL_PATH}.`);
    this.#requireRoom();
    return isPlatform ? this.#platform(request) : this.#general(request);
  }

  #requireRoom(): void {
    const { plane, openSockets } = this.#options;
    if (plane.admission.draining) throw new Problem('service-unavailable', 'This server is about to stop.');
    // Those being judged will be sockets in a moment.
    if (openSockets() + this.#judging > plane.admission.socketsMax)
      throw new Problem('service-unavailable', 'All sockets of this server are taken.');
  }

  async #general(request: UpgradeRequest): Promise<GeneralConnection> {
    const { plane } = this.#options;
    const apiKey = keyOf(request);
    if (apiKey === null)
      throw new Problem('unauthorized', 'A Detection key is needed: Authorization: Bearer <key>.');
    const identity = await this.#identityOf(apiKey);
    const fault = judgeIdentity(identity, plane.clock.nowMs());
    if (fault !== null) throw new Problem(FAULTS[fault].code, FAULTS[fault].detail);
    // The look-up may have taken a moment in which the drain began.
    if (plane.admission.draining) throw new Problem('service-unavailable', 'This server is about to stop.');
    return new GeneralConnection(plane, apiKey);
  }

  async #identityOf(apiKey: string): ReturnType<DetectionPlane['keyring']['get']> {
    try {
      return await this.#options.plane.keyring.get(apiKey);
    } catch (error) {
      if (!(error instanceof KeyringUnavailable)) throw error;
      throw new Problem('service-unavailable', 'The key cannot be judged now; try again in a moment.');
    }
  }

  /** The key comes later, in `start`; here only the platform itself is let in. */
  #platform(request: UpgradeRequest): PlatformConnection {
    const signature = headerOf(request, this.#signatureHeader);
    if (signature === undefined || signature === '')
      throw new Problem(
        'forbidden',
        'Only the telephony platform opens this route: its signature header is missing.',
      );
    return new PlatformConnection(this.#options.plane, {
      signature,
      path: request.path,
      host: headerOf(request, 'host') ?? '',
    });
  }

  #trace(request: UpgradeRequest): { path: string; requestId: string } {
    const given = headerOf(request, 'x-request-id');
    const requestId = given !== undefined && REQUEST_ID.test(given) ? given : this.#options.plane.ids.uuid();
    return { path: request.path, requestId };
  }
}

/** The key of the header, or without one that of the query; null when it is missing or malformed. */
function keyOf(request: UpgradeRequest): string | null {
  const header = headerOf(request, 'authorization');
  const fromQuery = new URLSearchParams(request.query).getAll('api_key');
  const key = header === undefined ? (fromQuery.length === 1 ? fromQuery[0] : undefined) : bearerOf(header);
  return key !== undefined && key !== '' && key.length <= KEY_LENGTH_MAX ? key : null;
}

const bearerOf = (header: string): string | undefined => /^bearer +([^\s]+)\s*$/i.exec(header)?.[1];
