import { CLOSE, FRAME_BYTES_MAX } from '../../platform/socket/index.ts';
import type { FrameBytes } from '../../platform/socket/index.ts';
import type { DetectionIdentity } from '../credentials/index.ts';
import { Connection } from './connection.ts';
import type { DetectionPlane } from './connection.ts';
import { parseFrame } from './frame.parser.ts';
import { isPlatformSignature, readPlatformStart } from './platform.rules.ts';

/** What the upgrade of a platform stream brought. */
export interface PlatformUpgrade {
  readonly signature: string;
  readonly path: string;
  /** The Host header of the upgrade. */
  readonly host: string;
}

/** Decoded audio of one frame, shared by all: the addon borrows it for the call only. */
const AUDIO = Buffer.alloc(FRAME_BYTES_MAX);

/**
 * The platform route (supplement 7): the platform's JSON frames are only read, results go to the webhook. `start` is
 * the welcome and `media` the audio; `dtmf`, `mark` and other tracks than inbound are dropped.
 */
export class PlatformConnection extends Connection {
  readonly #upgrade: PlatformUpgrade;

  constructor(plane: DetectionPlane, upgrade: PlatformUpgrade) {
    super(plane);
    this.#upgrade = upgrade;
  }

  protected override write(): void {
    // The platform's stream carries nothing back.
  }

  protected override readBinary(): void {
    if (this.state === 'fresh') this.close(CLOSE.unsupported, 'frames must be JSON text');
    else this.fault('unknown_command', 'A binary frame; the platform sends JSON text.');
  }

  protected override readText(bytes: FrameBytes): void {
    const frame = parseFrame(bytes);
    switch (frame?.['event']) {
      case 'media':
        return this.#media(frame['media']);
      case 'connected':
      case 'dtmf':
      case 'mark':
        return;
      case 'start':
        return this.#start(frame);
      case 'stop':
        return this.stop();
    }
    if (this.state === 'fresh') this.close(CLOSE.unsupported, 'the first frames must be connected and start');
    else this.fault('unknown_command', 'Known are connected, start, media, dtmf, mark and stop.');
  }

  #media(media: unknown): void {
    if (this.state === 'fresh') return this.close(CLOSE.unsupported, 'media before start');
    const { track, payload, timestamp } = (media ?? {}) as Readonly<Record<string, unknown>>;
    if (track !== undefined && track !== 'inbound') return;
    if (typeof payload !== 'string')
      return this.fault('unknown_command', 'A media frame without a payload in base64.');
    // Text of a frame is shorter than FRAME_BYTES_MAX, and base64 is longer than what it says.
    const length = AUDIO.write(payload, 0, 'base64');
    this.audio(AUDIO.subarray(0, length), mediaMsOf(timestamp));
  }

  #start(frame: Readonly<Record<string, unknown>>): void {
    const { ids, apiKey, welcome } = readPlatformStart(frame, this.plane.checkUrlSyntax);
    this.welcome({
      welcome,
      apiKey: apiKey ?? '',
      source: 'platform',
      platform: ids,
      accepts: (identity) => this.#isSigned(identity),
    });
  }

  /** Verified for accounts that stored their token; the others proved at the upgrade that a signature is there. */
  #isSigned(identity: DetectionIdentity): boolean {
    const { signature, path, host } = this.#upgrade;
    if (identity.platformToken === null) return true;
    const addresses = [this.plane.publicAddress, { authority: host, pathPrefix: '' }];
    return isPlatformSignature({ signature, token: identity.platformToken, addresses, path });
  }
}

/** The stream's own time of a chunk; undefined when it is no number. */
function mediaMsOf(timestamp: unknown): number | undefined {
  const value = typeof timestamp === 'string' && timestamp !== '' ? Number(timestamp) : timestamp;
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
