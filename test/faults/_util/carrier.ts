import { connect } from 'node:net';
import { until } from '../../_util/index.ts';
import { startTwilioDouble, twilioHeaders } from '../../_util/twilio-double.ts';
import type { TwilioDouble, TwilioRequest } from '../../_util/twilio-double.ts';

/** How long a client, or the carrier with a report, goes on asking a service that dies and comes back. */
export const ASKING_LIMIT_MS = 90_000;

/** What the carrier says of a text it took, by the last digit of its number. */
export type Fate = 'delivered' | 'failed' | 'silent';

export const fateOf = (to: string): Fate =>
  /[89]$/.test(to) ? 'silent' : /[67]$/.test(to) ? 'failed' : 'delivered';

/** A Twilio-compatible carrier that takes texts and reports their fate, again and again until it is heard. */
export class ReportingCarrier {
  readonly double: TwilioDouble;
  /** Milliseconds from a text to the report about it. */
  reportDelayMs = 0;
  readonly #reports = new Set<Promise<unknown>>();

  private constructor(double: TwilioDouble) {
    this.double = double;
  }

  static async open(): Promise<ReportingCarrier> {
    const double = await startTwilioDouble({ onRequest: (request) => carrier.report(request) });
    const carrier = new ReportingCarrier(double);
    return carrier;
  }

  /** What it was asked for, by number. */
  byNumber(): Map<string, TwilioRequest[]> {
    const found = new Map<string, TwilioRequest[]>();
    for (const request of this.double.requests) {
      const to = request.form.get('To') ?? '';
      found.set(to, [...(found.get(to) ?? []), request]);
    }
    return found;
  }

  /** The `count`-th request from now on is taken and never answered; resolves with it. */
  async takeSilently(count: number): Promise<TwilioRequest> {
    const { double } = this;
    const at = double.requests.length + count - 1;
    double.script(...Array.from({ length: count - 1 }, () => 'ok' as const), 'never');
    return until(() => double.requests[at], ASKING_LIMIT_MS, `request ${count} to the carrier`);
  }

  report(request: TwilioRequest): void {
    const fate = fateOf(request.form.get('To') ?? '');
    const url = request.form.get('StatusCallback');
    if (fate === 'silent' || url === null) return;
    const form = { MessageSid: request.sid, MessageStatus: fate };
    const headers = twilioHeaders(this.double.authToken, url, form);
    const asked = setTimeoutOf(this.reportDelayMs)
      .then(() => until(() => post(url, { headers, form }), ASKING_LIMIT_MS, 'an answer to a report'))
      .catch(() => undefined);
    this.#reports.add(asked);
    void asked.finally(() => this.#reports.delete(asked));
  }

  async close(): Promise<void> {
    await Promise.all(this.#reports);
    await this.double.close();
  }
}

const setTimeoutOf = (ms: number): Promise<void> =>
  ms === 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms));

/** Posts a form; whether it was taken. Waits for somebody to ask when there is nobody. */
export async function post(
  url: string,
  of: { headers: Record<string, string>; form: Record<string, string> },
): Promise<boolean> {
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: of.headers,
      body: new URLSearchParams(of.form).toString(),
    });
    await answer.arrayBuffer();
    return answer.status === 200;
  } catch {
    // Cut off by a kill: asked again when there is somebody to ask.
    await reachable(Number(new URL(url).port));
    return false;
  }
}

const knocking = new Map<number, Promise<unknown>>();

/** Waits until something listens; all who wait share one knock, so that a dead service costs no load. */
export async function reachable(port: number): Promise<void> {
  let knock = knocking.get(port);
  if (!knock) {
    knock = until(() => listens(port), ASKING_LIMIT_MS, `a listener on port ${port}`).finally(() =>
      knocking.delete(port),
    );
    knocking.set(port, knock);
  }
  await knock;
}

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const end = (isOpen: boolean) => () => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once('connect', end(true)).once('error', end(false));
  });
