import type { CarrierAnswer } from '../carriers/index.ts';

/** What a carrier answered, as steps of kind `carrier_answer` keep and show it. */
export function presentAnswer(answer: CarrierAnswer): Record<string, unknown> {
  switch (answer.kind) {
    case 'accepted':
      return {
        answer: answer.kind,
        carrier_message_id: answer.carrierMessageId,
        ...(answer.result ? { reason_code: answer.result.outcomeCode, detail: answer.result.detail } : {}),
      };
    case 'refused':
      return {
        ...{ answer: answer.kind, reason_code: answer.result.outcomeCode, detail: answer.result.detail },
      };
    case 'retry':
      return { answer: answer.kind, after_ms: answer.afterMs, detail: answer.detail };
    case 'unknown':
      return { answer: answer.kind, detail: answer.detail };
  }
}
