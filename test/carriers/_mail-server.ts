import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { SMTPServer } from 'smtp-server';
import type { SMTPServerOptions } from 'smtp-server';
import { until } from '../_util/index.ts';

export interface CaughtMail {
  readonly from: string;
  readonly to: readonly string[];
  /** As it came. */
  readonly message: Buffer;
  readonly user: string | null;
  readonly isSecure: boolean;
}

/** What the server does with the next mail: an answer `<stage> <code and text>`, or something that no server should do. */
export type MailAnswer =
  | 'ok'
  | 'hangup'
  | 'never'
  | 'garbage'
  | `${'connect' | 'sender' | 'recipient' | 'data'} ${number} ${string}`;

export interface MailServer {
  readonly port: number;
  /** Whole messages that came, whatever was said to them. */
  readonly caught: CaughtMail[];
  /** Connections that were made. */
  readonly connections: () => number;
  /** For the next mails; `ok` after them. */
  readonly script: (...answers: MailAnswer[]) => void;
  /** Cuts every connection that is open. */
  cut(): void;
  waitFor(count: number): Promise<CaughtMail[]>;
  close(): Promise<void>;
}

/** A real SMTP server on this machine. `auth`: the one who may send; without it anybody. */
export async function startMailServer(
  options: SMTPServerOptions & { login?: { user: string; pass: string } } = {},
): Promise<MailServer> {
  const caught: CaughtMail[] = [];
  const answers: MailAnswer[] = [];
  let made = 0;
  const sayAt = (stage: string): Error | null => {
    const [at, code, ...words] = (answers[0] ?? 'ok').split(' ');
    if (at !== stage) return null;
    answers.shift();
    return Object.assign(new Error(words.join(' ')), { responseCode: Number(code) });
  };
  const { login, ...own } = options;
  const server = new SMTPServer({
    authOptional: login === undefined,
    disableReverseLookup: true,
    // Without a certificate of the test's own no TLS is offered.
    disabledCommands: [
      ...(login === undefined ? ['AUTH'] : []),
      ...(own.key === undefined ? ['STARTTLS'] : []),
    ],
    ...own,
    onConnect: (_session, callback) => {
      made += 1;
      callback(sayAt('connect'));
    },
    onAuth: ({ username, password }, _session, callback) => {
      if (username === login?.user && password === login?.pass) return callback(null, { user: username });
      callback(Object.assign(new Error('Bad credentials'), { responseCode: 535 }));
    },
    onMailFrom: (_address, _session, callback) => callback(sayAt('sender')),
    onRcptTo: (address, _session, callback) =>
      callback(address.address.startsWith('nobody') ? noMailbox() : sayAt('recipient')),
    onData: (stream, session, callback) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        caught.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          message: Buffer.concat(chunks),
          user: typeof session.user === 'string' ? session.user : null,
          isSecure: session.secure,
        });
        const answer = sayAt('data');
        const rude = answer === null ? answers.shift() : undefined;
        if (rude === 'never') return;
        if (rude === 'hangup') return socketOf(session).destroy();
        if (rude === 'garbage') return void socketOf(session).write('Who are you?\r\n');
        callback(answer);
      });
    },
  });
  server.on('error', () => undefined);
  const socketOf = (session: object): Socket =>
    ([...server.connections] as unknown as { session: object; _socket: Socket }[]).find(
      (connection) => connection.session === session,
    )?._socket as Socket;
  const listener = server.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const cut = (): void => {
    for (const connection of server.connections as unknown as Set<{ _socket: Socket }>)
      connection._socket.destroy();
  };
  return {
    port: (listener.address() as AddressInfo).port,
    caught,
    connections: () => made,
    script: (...more) => void answers.push(...more),
    cut,
    waitFor: (count) => until(() => caught.length >= count && caught, 20_000, `${count} mails`),
    close: async () => {
      cut();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const noMailbox = (): Error => Object.assign(new Error('5.1.1 No such mailbox'), { responseCode: 550 });
