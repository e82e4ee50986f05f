import { createHmac, timingSafeEqual } from 'node:crypto';
import { catchWebhooks } from '../../_util/catch-webhooks.ts';
import type { Answer, Catcher, CaughtWebhook } from '../../_util/catch-webhooks.ts';

/** How far a signing time may be from the receiver's (contract, Detection webhooks: 5 minutes). */
const SIGNED_WITHIN_MS = 300_000;

/** One POST that arrived, verified as an integrator would. */
export interface Arrival {
  readonly deliveryId: string;
  readonly sessionId: string;
  readonly sequence: number;
  readonly event: string;
  readonly body: string;
  readonly signedAtMs: number;
  readonly receivedAtMs: number;
}

export type Answering = (arrival: Arrival, attempt: number) => Answer;

/**
 * A receiver that trusts nothing: signatures, the agreement of headers and body, and that a repeated delivery
 * repeats its body to the letter. What is wrong is kept in `faults`, which a test expects to be empty.
 */
export class Receiver {
  readonly faults: string[] = [];
  /** In the order of arrival, every attempt of a delivery. */
  readonly arrivals: Arrival[] = [];
  readonly #byId = new Map<string, Arrival[]>();
  readonly #keys: readonly string[];
  #catcher: Catcher | undefined;

  private constructor(keys: readonly string[]) {
    this.#keys = keys;
  }

  /** `keys`: the Detection keys that may sign. `answer` is asked for each POST and its count within the delivery. */
  static async open(keys: readonly string[], answer: Answering = () => ({ status: 200 })): Promise<Receiver> {
    const receiver = new Receiver(keys);
    receiver.#catcher = await catchWebhooks((hook) => receiver.#take(hook, answer));
    return receiver;
  }

  get url(): string {
    return this.#catcher?.url ?? '';
  }

  /** The attempts of one delivery. */
  attempts(deliveryId: string): readonly Arrival[] {
    return this.#byId.get(deliveryId) ?? [];
  }

  get deliveryIds(): ReadonlySet<string> {
    return new Set(this.#byId.keys());
  }

  /** First arrivals of one session's deliveries, in the order of arrival. */
  ofSession(sessionId: string): Arrival[] {
    const first = (arrival: Arrival): boolean => this.#byId.get(arrival.deliveryId)?.[0] === arrival;
    return this.arrivals.filter((arrival) => arrival.sessionId === sessionId && first(arrival));
  }

  async close(): Promise<void> {
    await this.#catcher?.close();
  }

  #take(hook: CaughtWebhook, answer: Answering): Answer {
    const arrival = this.#verify(hook);
    if (!arrival) return { status: 400 };
    const attempts = this.#byId.get(arrival.deliveryId) ?? [];
    const earlier = attempts[0];
    if (earlier && earlier.body !== arrival.body)
      this.faults.push(`${arrival.deliveryId}: another body than before`);
    attempts.push(arrival);
    this.#byId.set(arrival.deliveryId, attempts);
    this.arrivals.push(arrival);
    return answer(arrival, attempts.length);
  }

  #verify({ headers, body, receivedAtMs }: CaughtWebhook): Arrival | null {
    const fault = (what: string): null => {
      this.faults.push(`${what}: ${body.slice(0, 200)}`);
      return null;
    };
    const timestamp = String(headers['x-timestamp']);
    if (!this.#isSigned(String(headers['x-signature']), `${timestamp}.${body}`))
      return fault('a wrong signature');
    const signedAtMs = Number(timestamp);
    if (!(Math.abs(receivedAtMs - signedAtMs) <= SIGNED_WITHIN_MS)) return fault('signed at another time');
    const envelope = JSON.parse(body) as Record<string, unknown>;
    if (headers['x-delivery-id'] !== envelope['delivery_id'])
      return fault('X-Delivery-Id is not delivery_id');
    if (headers['x-event'] !== envelope['event']) return fault('X-Event is not event');
    return {
      deliveryId: String(envelope['delivery_id']),
      sessionId: String(envelope['session_id']),
      sequence: Number(envelope['sequence']),
      event: String(envelope['event']),
      body,
      signedAtMs,
      receivedAtMs,
    };
  }

  #isSigned(signature: string, text: string): boolean {
    return this.#keys.some((key) => {
      const due = Buffer.from(`v1=hmac-sha256,${createHmac('sha256', key).update(text).digest('hex')}`);
      const given = Buffer.from(signature);
      return due.length === given.length && timingSafeEqual(due, given);
    });
  }
}
