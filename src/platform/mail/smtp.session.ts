import { Readable } from 'node:stream';
import type { ConnectionOptions } from 'node:tls';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { connectChecked } from './checked.socket.ts';

/** Resolving, connecting, TLS and the greeting, each. */
const CONNECT_TIMEOUT_MS = 8_000;
/** A server that says nothing for so long is given up. RFC 5321, 4.5.3.2.6, allows it 10 minutes after the message; callers wait. */
const SILENCE_TIMEOUT_MS = 30_000;

export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** `starttls`: refused without; `none`: never encrypted. */
  readonly security: 'none' | 'starttls' | 'tls';
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly allowPrivateTargets: boolean;
  /** Further authorities, in tests. */
  readonly ca?: ConnectionOptions['ca'];
  /** A server that says nothing for so long is given up; 30 s, replaced in tests. */
  readonly silenceMs?: number;
}

export interface SmtpEnvelope {
  readonly from: string;
  readonly to: readonly string[];
}

/** A recipient that the server did not take. */
export interface RejectedRecipient {
  readonly address: string;
  readonly code: number | null;
  readonly text: string;
}

/** How far a mail had come when the server said no. */
export type SmtpStage = 'greeting' | 'login' | 'sender' | 'recipients' | 'data' | 'message';

export type SmtpAnswer =
  | { readonly kind: 'taken'; readonly text: string; readonly rejected: readonly RejectedRecipient[] }
  | {
      readonly kind: 'refused';
      readonly stage: SmtpStage;
      readonly code: number;
      readonly text: string;
      readonly rejected: readonly RejectedRecipient[];
    }
  /** Nothing of the message was sent. `error`: why. */
  | { readonly kind: 'not_sent'; readonly error: unknown }
  /** The message had begun: the server may have it. */
  | { readonly kind: 'lost'; readonly text: string };

interface Fault extends Error {
  readonly code?: string;
  readonly command?: string;
  readonly response?: string;
  readonly responseCode?: number;
  readonly rejectedErrors?: readonly (Fault & { readonly recipient?: string })[];
}

/** One connection to a mail server, logged in, that sends one mail after the other. */
export class SmtpSession {
  readonly #connection: SMTPConnection;
  #sent = 0;

  private constructor(connection: SMTPConnection) {
    this.#connection = connection;
    // Ends between mails are seen by `isOpen`; unheard they would end the process.
    connection.on('error', () => undefined);
  }

  /** A session, or why there is none. */
  static async open(server: SmtpServer, signal: AbortSignal): Promise<SmtpSession | SmtpAnswer> {
    try {
      const { host, port, security, allowPrivateTargets } = server;
      const socket = await connectChecked({
        ...{ host, port, allowPrivateTargets, timeoutMs: CONNECT_TIMEOUT_MS, signal },
      });
      const connection = new SMTPConnection({
        ...{ host, port, connection: socket, secure: security === 'tls' },
        ...{ requireTLS: security === 'starttls', ignoreTLS: security === 'none' },
        ...{ connectionTimeout: CONNECT_TIMEOUT_MS, greetingTimeout: CONNECT_TIMEOUT_MS },
        socketTimeout: server.silenceMs ?? SILENCE_TIMEOUT_MS,
        ...(server.ca === undefined ? {} : { tls: { ca: server.ca } }),
      });
      const session = new SmtpSession(connection);
      await session.#greet();
      return (await session.#login(server)) ?? session;
    } catch (error) {
      return refusalOf(error as Fault, 'greeting') ?? { kind: 'not_sent', error };
    }
  }

  /** Mails sent. */
  get sent(): number {
    return this.#sent;
  }

  get isOpen(): boolean {
    return !this.#connection.destroyed;
  }

  /** Sends one mail. Anything but `taken` leaves the session closed. */
  async send(envelope: SmtpEnvelope, message: Buffer, signal: AbortSignal): Promise<SmtpAnswer> {
    let hasBegun = false;
    // Read from when the server has said that the message may come, not before.
    const content = new Readable({
      read() {
        hasBegun = true;
        this.push(message);
        this.push(null);
      },
    });
    const answer = await new Promise<SmtpAnswer>((resolve) => {
      const fail = (error: Fault): void =>
        resolve(
          refusalOf(error, hasBegun ? 'message' : 'data') ??
            (hasBegun ? { kind: 'lost', text: error.message } : { kind: 'not_sent', error }),
        );
      const onAbort = (): void => fail(Object.assign(new Error('The process ends.'), { code: 'EABORT' }));
      if (signal.aborted) return onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      const { from } = envelope;
      this.#connection.send({ from, to: [...envelope.to], size: message.length }, content, (error, info) => {
        signal.removeEventListener('abort', onAbort);
        if (error || !info) return fail(error ?? new Error('no answer'));
        resolve({ kind: 'taken', text: info.response, rejected: rejectedOf(info.rejectedErrors) });
      });
    });
    this.#sent += 1;
    if (answer.kind !== 'taken') this.close();
    return answer;
  }

  close(): void {
    this.#connection.close();
  }

  #greet(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#connection.once('error', reject);
      this.#connection.connect((error) => {
        this.#connection.off('error', reject);
        if (error) reject(error);
        else resolve();
      });
    });
  }

  /** Null: logged in, or nobody to log in as. */
  async #login({ username, password }: SmtpServer): Promise<SmtpAnswer | null> {
    if (username === undefined) return null;
    const fault = await new Promise<Fault | null>((resolve) => {
      const onError = (error: Fault): void => resolve(error);
      this.#connection.once('error', onError);
      this.#connection.login({ user: username, pass: password ?? '' }, (error) => {
        this.#connection.off('error', onError);
        resolve(error ?? null);
      });
    });
    if (fault === null) return null;
    this.close();
    return refusalOf(fault, 'login') ?? { kind: 'not_sent', error: fault };
  }
}

const STAGE_OF_COMMAND: Record<string, SmtpStage> = {
  'MAIL FROM': 'sender',
  'RCPT TO': 'recipients',
};

/** What a server said no to; null when it said nothing. */
function refusalOf(error: Fault, stage: SmtpStage): SmtpAnswer | null {
  const { responseCode: code, response, command } = error;
  if (code === undefined || code < 400) return null;
  const text = response ?? error.message;
  const rejected = rejectedOf(error.rejectedErrors);
  return { kind: 'refused', stage: STAGE_OF_COMMAND[command ?? ''] ?? stage, code, text, rejected };
}

const rejectedOf = (errors: readonly object[] | undefined): RejectedRecipient[] =>
  (errors ?? []).map((error) => {
    const {
      recipient = '',
      responseCode = null,
      response,
      message,
    } = error as Fault & { recipient?: string };
    return { address: recipient, code: responseCode, text: response ?? message };
  });
