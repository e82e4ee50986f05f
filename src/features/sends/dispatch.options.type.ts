import type { Clock } from '../../kernel/clock.ts';
import type { Db } from '../../platform/db/index.ts';
import type { Net } from '../../platform/net/index.ts';
import type { Outbox } from '../../platform/outbox/index.ts';
import type { LedgerService } from '../accounts/index.ts';
import type { CallRequest, CarrierConnections, PlayPlan } from '../carriers/index.ts';
import type { DialingRulesService } from '../delivery-rules/index.ts';
import type { SendResults } from './result.receipts.service.ts';

/** What calls and voicemails are made of. */
export interface MessageAudio {
  /** Ids of the voices; null: there is no engine to ask. */
  voices(): Promise<ReadonlySet<string> | null>;
  /** Speaks a text; the storage key of the file, null: it could not be spoken. */
  speak(of: { teamId: string; voiceId: string; text: string }): Promise<string | null>;
  /** Brings a file from a public address; its storage key, null: it could not be used. */
  fetch(of: { teamId: string; url: string }): Promise<string | null>;
  /** A public, signed address of a stored file. */
  addressOf(storageKey: string, expiresAtMs: number): string;
}

export interface DispatchOptions {
  readonly db: Db;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly ledger: Pick<LedgerService, 'book'>;
  readonly rules: Pick<DialingRulesService, 'ofMany'>;
  readonly carriers: Pick<CarrierConnections, 'open' | 'simulator' | 'statusUrlOf'>;
  readonly results: SendResults;
  readonly audio: MessageAudio;
  /** The media stream of a call that plays a plan: its address, and the plan signed. */
  readonly streamOf: (plan: PlayPlan) => CallRequest['stream'];
  readonly net: Pick<Net, 'checkUrl'>;
  /** Uniform in 0..1; replaced in tests. */
  readonly random?: () => number;
}
