import { CLOSE } from '../../platform/socket/index.ts';
import type { FrameBytes } from '../../platform/socket/index.ts';
import { Connection } from './connection.ts';
import type { DetectionPlane } from './connection.ts';
import { PONG_FRAME } from './event.present.ts';
import { parseFrame } from './frame.parser.ts';
import { readWelcome } from './welcome.rules.ts';

/** The general route `/carrier/ws`: JSON text for commands and events, binary frames for audio. */
export class GeneralConnection extends Connection {
  readonly #apiKey: string;

  constructor(plane: DetectionPlane, apiKey: string) {
    super(plane);
    this.#apiKey = apiKey;
  }

  protected override write(frame: string): void {
    this.sendText(frame);
  }

  protected override readBinary(bytes: FrameBytes): void {
    if (this.state === 'fresh') this.close(CLOSE.unsupported, 'the first frame must be a welcome as text');
    else this.audio(bytes, undefined);
  }

  protected override readText(bytes: FrameBytes): void {
    const frame = parseFrame(bytes);
    if (frame?.['type'] === 'ping') return this.sendText(PONG_FRAME);
    if (frame?.['type'] === 'welcome') return this.#welcome(frame['payload']);
    if (this.state === 'fresh')
      return this.close(CLOSE.unsupported, 'the first frame must be a JSON welcome');
    if (frame?.['command'] === 'stop') this.stop();
    else if (frame?.['command'] === 'answered') this.answered();
    else
      this.fault(
        'unknown_command',
        'Known are welcome, ping, stop and answered; audio comes as binary frames.',
      );
  }

  #welcome(payload: unknown): void {
    this.welcome({
      welcome: readWelcome(payload, this.plane.checkUrlSyntax),
      apiKey: this.#apiKey,
      source: 'ws',
      platform: null,
      accepts: () => true,
    });
  }
}
