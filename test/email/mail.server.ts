import type { AddressInfo } from 'node:net';
import nodemailer from 'nodemailer';
import { SMTPServer } from 'smtp-server';
import type { CarrierAnswer, MailCarrier, MailRequest } from '../../src/features/carriers/index.ts';

/** What the server took. */
export interface TakenMail {
  readonly from: string;
  readonly to: readonly string[];
  /** As it came over the wire. */
  readonly raw: string;
  /** Header names in lower case, unfolded. */
  readonly headers: ReadonlyMap<string, string>;
  /** The decoded part of a type. */
  part(type: 'text/plain' | 'text/html'): string;
}

/** A real SMTP server: refuses `nobody@…` at RCPT, breaks the connection after the message to `broken@…`. */
export class MailServer {
  readonly taken: TakenMail[] = [];
  readonly #server: SMTPServer;
  port = 0;

  constructor() {
    this.#server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['AUTH', 'STARTTLS'],
      onRcptTo: ({ address }, _session, done) => {
        if (!address.startsWith('nobody@')) return done();
        done(Object.assign(new Error('5.1.1 no such mailbox'), { responseCode: 550 }));
      },
      onData: (stream, session, done) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          const { mailFrom, rcptTo } = session.envelope;
          const to = rcptTo.map(({ address }) => address);
          this.taken.push(takenOf(Buffer.concat(chunks), mailFrom === false ? '' : mailFrom.address, to));
          if (to.some((address) => address.startsWith('broken@'))) this.#breakOff();
          else done();
        });
      },
    });
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.port = (this.#server.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #breakOff(): void {
    const { connections } = this.#server as unknown as { connections: Set<{ close(): void }> };
    for (const connection of connections) connection.close();
  }
}

/** The port over nodemailer, as small as the tests need it. */
export class TestMailCarrier implements MailCarrier {
  readonly requests: MailRequest[] = [];
  readonly #port: () => number;

  constructor(port: () => number) {
    this.#port = port;
  }

  async sendMail(request: MailRequest): Promise<CarrierAnswer> {
    this.requests.push(request);
    const transport = nodemailer.createTransport({
      ...{ host: '127.0.0.1', port: this.#port(), secure: false, ignoreTLS: true },
    });
    const { from, to, cc, bcc, subject, html, text, messageId, headers } = request;
    const party = ({ address, name }: { address: string; name?: string }) => ({ address, name: name ?? '' });
    try {
      const sent = await transport.sendMail({
        ...{ from: party(from), to: to.map(party), cc: cc.map(party), bcc: bcc.map(party) },
        ...{ subject, html, text: text ?? '', messageId, headers: { ...headers } },
        ...(request.dkim === null
          ? {}
          : {
              dkim: {
                domainName: request.dkim.domain,
                keySelector: request.dkim.selector,
                privateKey: request.dkim.privateKey,
              },
            }),
      });
      return { kind: 'accepted', carrierMessageId: sent.messageId };
    } catch (error) {
      return answerOf(error as Error & { code?: string; responseCode?: number });
    } finally {
      transport.close();
    }
  }
}

function answerOf(error: Error & { code?: string; responseCode?: number }): CarrierAnswer {
  const detail = error.message;
  if ((error.responseCode ?? 0) >= 500) return { kind: 'refused', result: { outcomeCode: 5030, detail } };
  if (/ECONNREFUSED/.test(detail)) return { kind: 'retry', afterMs: 1_000, detail };
  return { kind: 'unknown', detail };
}

function takenOf(bytes: Buffer, from: string, to: readonly string[]): TakenMail {
  const raw = bytes.toString('latin1');
  const head = raw.slice(0, raw.indexOf('\r\n\r\n')).replace(/\r\n[ \t]+/g, ' ');
  const headers = new Map(
    head.split('\r\n').map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const part = (type: string): string => {
    const section =
      raw.split(/\r\n--[^\r\n]+/).find((one) => new RegExp(`content-type: ${type}`, 'i').test(one)) ?? '';
    const body = section.slice(section.indexOf('\r\n\r\n', 4) + 4);
    const encoding = /content-transfer-encoding: (\S+)/i.exec(section)?.[1]?.toLowerCase();
    if (encoding === 'base64') return Buffer.from(body, 'base64').toString('utf8');
    if (encoding !== 'quoted-printable') return Buffer.from(body, 'latin1').toString('utf8');
    const plain = body
      .replace(/=\r\n/g, '')
      .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
    return Buffer.from(plain, 'latin1').toString('utf8');
  };
  return { from, to, raw, headers, part };
}
