import { createSocket } from 'node:dgram';
import type { Socket } from 'node:dgram';
import { once } from 'node:events';

/** What the server says about a name: TXT records (each one or more strings), a code of RFC 1035 4.1.1, or nothing at all. */
export type Zone = Map<string, readonly (string | readonly string[])[] | 'servfail' | 'silent'>;

const TXT = 16;
const NXDOMAIN = 3;
const SERVFAIL = 2;
const STRING_MAX = 255;

/** A DNS server on loopback that answers TXT questions from a zone (RFC 1035); names it lacks do not exist. */
export class DnsServer {
  readonly zone: Zone = new Map();
  /** Names that were asked for, in order. */
  readonly asked: string[] = [];
  readonly #socket: Socket = createSocket('udp4');

  static async start(): Promise<DnsServer> {
    const server = new DnsServer();
    server.#socket.on('message', (question, peer) => {
      const answer = server.#answer(question);
      if (answer) server.#socket.send(answer, peer.port, peer.address);
    });
    server.#socket.bind(0, '127.0.0.1');
    await once(server.#socket, 'listening');
    return server;
  }

  /** As DNS_SERVERS names it. */
  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  close(): void {
    this.#socket.close();
  }

  #answer(question: Buffer): Buffer | null {
    const { name, end } = readName(question, 12);
    this.asked.push(name);
    const found = this.zone.get(name);
    if (found === 'silent') return null;
    const records = Array.isArray(found) ? (found as readonly (string | readonly string[])[]) : [];
    const code = found === 'servfail' ? SERVFAIL : found === undefined ? NXDOMAIN : 0;
    const header = Buffer.alloc(12);
    question.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8580 | code, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    return Buffer.concat([header, question.subarray(12, end + 4), ...records.map(textRecord)]);
  }
}

function textRecord(value: string | readonly string[]): Buffer {
  const strings = typeof value === 'string' ? (value.match(/.{1,255}/gs) ?? ['']) : value;
  const data = Buffer.concat(
    strings.map((text) => {
      const bytes = Buffer.from(text, 'latin1');
      if (bytes.length > STRING_MAX) throw new RangeError('a string of TXT is at most 255 bytes');
      return Buffer.concat([Buffer.from([bytes.length]), bytes]);
    }),
  );
  const head = Buffer.alloc(12);
  // The name: a pointer to the question's.
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(TXT, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(0, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function readName(bytes: Buffer, start: number): { name: string; end: number } {
  const labels: string[] = [];
  let at = start;
  while (bytes[at]) {
    const length = bytes[at]!;
    labels.push(bytes.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}
