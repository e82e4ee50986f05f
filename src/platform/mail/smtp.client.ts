import { Slots, SlotsFullError } from '../../kernel/slots.ts';
import { SmtpSession } from './smtp.session.ts';
import type { SmtpAnswer, SmtpEnvelope, SmtpServer } from './smtp.session.ts';

/** Connections to one server at once. */
const SESSIONS_MAX = 5;
/** Mails that wait for one of them. */
const WAITING_MAX = 500;
/** Servers that count close a connection after about a hundred mails. */
const MAILS_PER_SESSION_MAX = 100;
/** An idle connection is closed after this time. */
const IDLE_MS = 10_000;

/** More mails wait than may. */
export class SmtpBusyError extends Error {
  readonly code = 'EBUSY';
}

/** Sends mail through one server over few connections, which are kept open between mails for a while. */
export class SmtpClient {
  readonly #server: SmtpServer;
  readonly #slots = new Slots({ max: SESSIONS_MAX, waitingMax: WAITING_MAX });
  readonly #idle = new Map<SmtpSession, NodeJS.Timeout>();
  #isClosed = false;

  constructor(server: SmtpServer) {
    this.#server = server;
  }

  /** What the server said, or how far the mail had come when it said nothing. Does not reject. */
  async send(envelope: SmtpEnvelope, message: Buffer, signal: AbortSignal): Promise<SmtpAnswer> {
    try {
      return await this.#slots.run(() => this.#send(envelope, message, signal));
    } catch (error) {
      if (!(error instanceof SlotsFullError)) throw error;
      return { kind: 'not_sent', error: new SmtpBusyError('Too many mails wait for the server.') };
    }
  }

  /** Closes what is idle; mails on their way end by themselves. */
  close(): void {
    this.#isClosed = true;
    for (const session of [...this.#idle.keys()]) this.#take(session).close();
  }

  async #send(envelope: SmtpEnvelope, message: Buffer, signal: AbortSignal): Promise<SmtpAnswer> {
    for (const session of [...this.#idle.keys()]) {
      if (!this.#idle.has(session)) continue;
      const answer = await this.#over(this.#take(session), { envelope, message, signal });
      // A server may have closed a connection that was kept: nothing was sent, so a fresh one is tried.
      if (answer.kind !== 'not_sent' || signal.aborted) return answer;
    }
    const session = await SmtpSession.open(this.#server, signal);
    if (!(session instanceof SmtpSession)) return session;
    return this.#over(session, { envelope, message, signal });
  }

  async #over(
    session: SmtpSession,
    mail: { envelope: SmtpEnvelope; message: Buffer; signal: AbortSignal },
  ): Promise<SmtpAnswer> {
    const answer = await session.send(mail.envelope, mail.message, mail.signal);
    if (answer.kind !== 'taken') return answer;
    if (this.#isClosed || session.sent >= MAILS_PER_SESSION_MAX) session.close();
    else this.#keep(session);
    return answer;
  }

  #keep(session: SmtpSession): void {
    const timer = setTimeout(() => this.#take(session).close(), IDLE_MS).unref();
    this.#idle.set(session, timer);
  }

  #take(session: SmtpSession): SmtpSession {
    clearTimeout(this.#idle.get(session));
    this.#idle.delete(session);
    return session;
  }
}
