import type { Driver } from './driver.type.ts';
import type { Said } from './said.rules.ts';

/** Connections over SMPP are kept, and carry nothing: their texts are refused instead of being simulated. */
export class SmppDriver implements Driver {
  async send(): Promise<Said> {
    const detail = 'Connections over SMPP carry no texts.';
    return { answer: { kind: 'refused', result: { outcomeCode: 6003, detail } }, fault: null };
  }

  async close(): Promise<void> {
    // Holds nothing.
  }
}
