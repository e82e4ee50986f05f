import DKIM from 'nodemailer/lib/dkim';
import MailComposer from 'nodemailer/lib/mail-composer';

export interface MailAddress {
  readonly address: string;
  readonly name?: string;
}

/** Signs for `domain` with the key published at `<selector>._domainkey.<domain>` (RFC 6376). */
export interface DkimKey {
  readonly domain: string;
  readonly selector: string;
  /** PEM. */
  readonly privateKey: string;
}

export interface MailContent {
  readonly from: MailAddress;
  readonly to: readonly MailAddress[];
  readonly cc: readonly MailAddress[];
  readonly subject: string;
  readonly html: string;
  readonly text: string | null;
  /** With its angle brackets. */
  readonly messageId: string;
  readonly dateMs: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly dkim: DkimKey | null;
}

/** The message as it is sent (RFC 5322 with MIME), signed when there is a key. Blind copies are the envelope's alone. */
export async function composeMail(mail: MailContent): Promise<Buffer> {
  const composer = new MailComposer({
    from: whole(mail.from),
    to: mail.to.map(whole),
    cc: mail.cc.map(whole),
    subject: mail.subject,
    html: lines(mail.html),
    ...(mail.text === null ? {} : { text: lines(mail.text) }),
    messageId: mail.messageId,
    date: new Date(mail.dateMs),
    headers: { ...mail.headers },
    // Of what is not plain ASCII in short lines: it passes every server unchanged, which the signature needs.
    textEncoding: 'base64',
    xMailer: false,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const message = await composer.compile().build();
  return mail.dkim === null ? message : signed(message, mail.dkim);
}

const whole = ({ address, name }: MailAddress): { address: string; name: string } => ({
  address,
  name: name ?? '',
});

const lines = (text: string): string => text.replace(/\r\n|\r|\n/g, '\r\n');

async function signed(message: Buffer, key: DkimKey): Promise<Buffer> {
  const { domain: domainName, selector: keySelector, privateKey } = key;
  const chunks: Buffer[] = [];
  const stream = new DKIM({ domainName, keySelector, privateKey }).sign(message);
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}
