import type { OutcomeCode } from '../../kernel/outcome.ts';

/** Why a request cannot be sent. `detail` names the field. */
export interface Fault {
  readonly code: OutcomeCode;
  /** Overrides the outcome's name. */
  readonly reason?: string;
  readonly detail: string;
}

/** Something that is heard. A media's file is known once it was looked up. */
export type Audio =
  | { readonly kind: 'media'; readonly mediaId: string }
  | { readonly kind: 'speech'; readonly text: string; readonly voiceId: string }
  | { readonly kind: 'url'; readonly url: string };

export type Message =
  | {
      readonly kind: 'text';
      readonly body: string;
      readonly mediaUrls: readonly string[];
      readonly mediaIds: readonly string[];
      readonly rcsContent: unknown;
    }
  | { readonly kind: 'call'; readonly onSpeech: Audio | null; readonly onBeep: Audio | null }
  | {
      readonly kind: 'agent';
      readonly agentId: string;
      readonly variables: Readonly<Record<string, unknown>>;
    };

/** A body as its route reads it (supplement 1). Of one with faults, what was wrong is null. */
export interface RequestedSend {
  /** E.164. */
  readonly to: string | null;
  readonly contactId: string | null;
  readonly phoneLineId: string | null;
  readonly callerId: string | null;
  readonly brandId: string | null;
  readonly postalCode: string | null;
  readonly callbackUrl: string | null;
  readonly foreignId: string | null;
  /** Version 1: the caller says that the contact agreed. */
  readonly isOptedIn: boolean;
  readonly message: Message | null;
}

export interface CheckedRequest {
  readonly request: RequestedSend;
  readonly faults: readonly Fault[];
}
