import type { CarrierAnswer } from './port.type.ts';

/** What came of one request. */
export interface Said {
  readonly answer: CarrierAnswer;
  /** What was wrong with the connection, whoever was to be reached; null: it answered as it should. */
  readonly fault: string | null;
  /** So long the carrier wants to be asked nothing at all by this connection. */
  readonly quietMs?: number;
}

export const retry = (afterMs: number, detail: string, fault: string | null = null): Said => ({
  ...{ answer: { kind: 'retry', afterMs, detail }, fault },
});

export const unknown = (detail: string): Said => ({ answer: { kind: 'unknown', detail }, fault: detail });

/** The process ends before anything was sent. */
export const notStarted = (): Said => retry(0, 'The process ends.');
