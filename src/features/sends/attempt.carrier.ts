import type {
  CallRequest,
  CarrierAnswer,
  DropRequest,
  OpenCarrier,
  PlayPlan,
  TextRequest,
} from '../carriers/index.ts';
import type { DialingRules } from '../delivery-rules/index.ts';
import type { DispatchOptions } from './dispatch.options.type.ts';
import type { OpenSend, Particulars } from './dispatch.type.ts';
import type { CarrierStanding } from './facts.rules.ts';
import type { StoredFacts } from './facts.store.ts';
import type { Audio, Message } from './request.type.ts';

/** A signed address of audio, or a plan, is good for as long as a call may take to be placed and answered. */
const AUDIO_LIVES_MS = 3_600_000;
const PLAN_LIVES_MS = 600_000;

/** The connection that a send goes out through. */
export type ChosenCarrier =
  | { readonly work: 'text'; readonly open: OpenCarrier<'text'> }
  | { readonly work: 'call'; readonly open: OpenCarrier<'call'> }
  | { readonly work: 'drop'; readonly open: OpenCarrier<'drop'> };

export const standingOf = ({ open }: ChosenCarrier): CarrierStanding => ({
  isOwn: open.carrierId !== null,
  isSimulator: open.kind === 'simulator',
});

/** Files that are played, by their storage keys. */
export interface ReadyAudio {
  readonly onSpeech: string | null;
  readonly onBeep: string | null;
}

const SILENCE: ReadyAudio = { onSpeech: null, onBeep: null };

/** All that a request to a carrier is made from. */
export interface AttemptRequest {
  readonly send: OpenSend;
  readonly attempt: number;
  readonly particulars: Particulars & { readonly phoneNumber: string };
  readonly message: Message;
  readonly stored: StoredFacts;
  readonly rules: DialingRules;
  readonly audio: ReadyAudio;
  readonly carrier: ChosenCarrier;
}

/** Which connection carries a send, and in what words it is asked. */
export class AttemptCarrier {
  readonly #options: Pick<DispatchOptions, 'carriers' | 'audio' | 'streamOf' | 'clock'>;

  constructor(options: Pick<DispatchOptions, 'carriers' | 'audio' | 'streamOf' | 'clock'>) {
    this.#options = options;
  }

  /**
   * Voicemails go as calls that wait for the beep, and calls of agents, which are simulated, through a
   * simulator.
   */
  async choose({ teamId, channel }: OpenSend): Promise<ChosenCarrier> {
    const { carriers } = this.#options;
    if (channel === 'sms') return { work: 'text', open: await carriers.open(teamId, 'text') };
    const call = await carriers.open(teamId, 'call');
    const isSimulator = call.kind === 'simulator';
    if (channel === 'rvm' && isSimulator) return { work: 'drop', open: await carriers.open(teamId, 'drop') };
    if (channel === 'ai_broadcast' && !isSimulator) return { work: 'call', open: carriers.simulator() };
    return { work: 'call', open: call };
  }

  /** Null: something that should be played cannot be. A simulator plays nothing. */
  async prepare(
    carrier: ChosenCarrier,
    of: { teamId: string; message: Message; stored: StoredFacts },
  ): Promise<ReadyAudio | null> {
    if (of.message.kind !== 'call' || carrier.open.kind === 'simulator') return SILENCE;
    const { onSpeech, onBeep } = of.message;
    const keys = { onSpeech: await this.#keyOf(onSpeech, of), onBeep: await this.#keyOf(onBeep, of) };
    const isWhole =
      (onSpeech === null || keys.onSpeech !== null) && (onBeep === null || keys.onBeep !== null);
    return isWhole ? keys : null;
  }

  /** @throws what the port throws: then nobody knows what the carrier has */
  async ask(request: AttemptRequest, signal: AbortSignal): Promise<CarrierAnswer> {
    const { carrier, message } = request;
    switch (carrier.work) {
      case 'text':
        return carrier.open.port.sendText(this.#text(request, message), signal);
      case 'call':
        return carrier.open.port.placeCall(this.#call(request), signal);
      case 'drop':
        return carrier.open.port.dropVoicemail(this.#drop(request), signal);
    }
  }

  async #keyOf(
    audio: Audio | null,
    { teamId, stored }: { teamId: string; stored: StoredFacts },
  ): Promise<string | null> {
    switch (audio?.kind) {
      case undefined:
        return null;
      case 'media':
        return stored.media.get(audio.mediaId.toLowerCase()) ?? null;
      case 'speech':
        return this.#options.audio.speak({ teamId, voiceId: audio.voiceId, text: audio.text });
      case 'url':
        return this.#options.audio.fetch({ teamId, url: audio.url });
    }
  }

  #base({ send, attempt, particulars, carrier }: AttemptRequest) {
    const { teamId, sendId } = send;
    const { carrierId, kind } = carrier.open;
    const hasReceipts = carrierId !== null && kind !== 'simulator';
    const statusUrl = hasReceipts ? this.#options.carriers.statusUrlOf({ carrierId, sendId, attempt }) : null;
    return { teamId, sendId, attempt, to: particulars.phoneNumber, from: particulars.callerId, statusUrl };
  }

  #text(request: AttemptRequest, message: Message): TextRequest {
    if (message.kind !== 'text') throw new Error('a text has a text to send');
    const expiresAtMs = this.#options.clock.nowMs() + AUDIO_LIVES_MS;
    const stored = message.mediaIds.flatMap((id) => request.stored.media.get(id.toLowerCase()) ?? []);
    const mediaUrls = [
      ...message.mediaUrls,
      ...stored.map((key) => this.#options.audio.addressOf(key, expiresAtMs)),
    ];
    return { ...this.#base(request), body: message.body, mediaUrls, rcsContent: message.rcsContent };
  }

  #call(request: AttemptRequest): CallRequest {
    const { send, attempt, rules, audio, carrier } = request;
    const { channel, teamId, sendId } = send;
    const plan: PlayPlan = {
      ...{ teamId, sendId, attempt, onSpeech: audio.onSpeech, onBeep: audio.onBeep },
      noVerdict: channel === 'rvm' ? 'hang_up' : rules.noVerdictAction,
      optOutDigit: rules.optOutDigit,
      expiresAtMs: this.#options.clock.nowMs() + PLAN_LIVES_MS,
    };
    if (channel === 'sms') throw new Error('a text is no call');
    // A simulator opens no stream.
    const isSimulated = carrier.open.kind === 'simulator';
    const stream = isSimulated ? { url: '', parameters: {} } : this.#options.streamOf(plan);
    return { ...this.#base(request), stream, channel };
  }

  #drop(request: AttemptRequest): DropRequest {
    const { message, stored } = request;
    const audio = message.kind === 'call' ? message.onBeep : null;
    const key = audio?.kind === 'media' ? stored.media.get(audio.mediaId.toLowerCase()) : null;
    const expiresAtMs = this.#options.clock.nowMs() + AUDIO_LIVES_MS;
    const kept = key ? this.#options.audio.addressOf(key, expiresAtMs) : '';
    return { ...this.#base(request), audioUrl: audio?.kind === 'url' ? audio.url : kept };
  }
}
