import type {
  CallRequest,
  CarrierAnswer,
  CarrierResult,
  CarrierWait,
  CarrierWork,
  DropRequest,
  MailRequest,
  OpenCarrier,
  TextRequest,
} from '../../src/features/carriers/index.ts';

/** What a carrier was asked for. */
export type Asked =
  | { readonly work: 'text'; readonly request: TextRequest }
  | { readonly work: 'call'; readonly request: CallRequest }
  | { readonly work: 'drop'; readonly request: DropRequest }
  | { readonly work: 'mail'; readonly request: MailRequest };

/** `number` counts the requests, from 1. May reject: then nobody knows what the carrier has. */
export type Answering = (
  asked: Asked,
  number: number,
  signal: AbortSignal,
) => CarrierAnswer | Promise<CarrierAnswer>;

let messages = 0;

/** The ways a carrier answers. */
export const answers = {
  /** Taken; its result comes later. */
  accepted: (): CarrierAnswer => {
    messages += 1;
    return { kind: 'accepted', carrierMessageId: `message-${messages}` };
  },
  /** Taken, and how it ended. */
  ended: (result: CarrierResult = { outcomeCode: 0 }): CarrierAnswer =>
    ({ ...answers.accepted(), result }) as CarrierAnswer,
  refused: (result: CarrierResult = { outcomeCode: 4004 }): CarrierAnswer => ({ kind: 'refused', result }),
  tooMany: (afterMs = 5_000): CarrierAnswer => ({
    kind: 'retry',
    afterMs,
    detail: 'The carrier answered 429.',
  }),
  noConnection: (): CarrierAnswer => ({ kind: 'retry', afterMs: 0, detail: 'The connection was refused.' }),
  timedOut: (): CarrierAnswer => ({ kind: 'unknown', detail: 'No answer in time.' }),
  garbage: (): CarrierAnswer => ({ kind: 'unknown', detail: 'The answer is not one of this carrier.' }),
};

/**
 * A carrier outside the process: it keeps what it was asked for, in order, and answers as it was told to. As `null` it
 * stands for the built-in simulator, with an id for an account's own connection.
 */
export class RecordingCarrier {
  readonly asked: Asked[] = [];
  readonly carrierId: string | null;
  readonly kind: OpenCarrier['kind'];
  answering: Answering = () => answers.ended();
  /** What it has work wait for before it may be asked. */
  wait: CarrierWait | null = null;

  constructor(of: { carrierId?: string | null; kind?: OpenCarrier['kind'] } = {}) {
    this.carrierId = of.carrierId ?? null;
    this.kind = of.kind ?? (this.carrierId === null ? 'simulator' : 'twilio');
  }

  /** What it was asked about sends to a number. */
  to(number: string): Asked[] {
    return this.asked.filter(({ work, request }) => work !== 'mail' && request.to === number);
  }

  open<W extends CarrierWork>(work: W): OpenCarrier<W> {
    const ask = async (asked: Asked, signal: AbortSignal): Promise<CarrierAnswer> => {
      this.asked.push(asked);
      return this.answering(asked, this.asked.length, signal);
    };
    const ports: { readonly [K in CarrierWork]: OpenCarrier<K>['port'] } = {
      text: { sendText: (request, signal) => ask({ work: 'text', request }, signal) },
      call: { placeCall: (request, signal) => ask({ work: 'call', request }, signal) },
      drop: { dropVoicemail: (request, signal) => ask({ work: 'drop', request }, signal) },
      mail: { sendMail: (request, signal) => ask({ work: 'mail', request }, signal) },
    };
    const { carrierId, kind } = this;
    return { carrierId, kind, port: ports[work], turn: async () => this.wait };
  }
}
