import type { CallRequest, CarrierWork, DropRequest, MailRequest, TextRequest } from './port.type.ts';
import type { Said } from './said.rules.ts';

/** What each kind of work asks a carrier for. */
export interface CarrierRequests {
  readonly text: TextRequest;
  readonly call: CallRequest;
  readonly drop: DropRequest;
  readonly mail: MailRequest;
}

/** One connection in the words of its carrier. Never rejects for what a carrier does, or fails to do. */
export interface Driver {
  send<W extends CarrierWork>(work: W, request: CarrierRequests[W], signal: AbortSignal): Promise<Said>;
  close(): Promise<void>;
}
