import { once } from 'node:events';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import WebSocket from 'ws';
import type { ClientOptions } from 'ws';
import { socketSchemas } from '../../src/features/detection/index.ts';
import { until } from '../_util/index.ts';

/** A frame of the service, as it came. */
export interface ServerFrame {
  type: string;
  event: string;
  payload: Record<string, unknown> & { session_id: string; timestamp_ms: number };
}

const ajv = formats.default(new Ajv({ strict: false, allErrors: true }));
const validators = new Map(
  Object.entries(socketSchemas()).map(([name, schema]) => [name, ajv.compile(schema)]),
);

/** Fails with what is wrong unless `value` fits the schema of that name. */
export function expectSchema(name: string, value: unknown): void {
  const validate = validators.get(name);
  if (!validate) throw new Error(`no schema ${name}`);
  if (!validate(value))
    throw new Error(`${name}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(value)}`);
}

/** A real client on a real socket; every frame that it gets is held against its schema. */
export class Client {
  readonly ws: WebSocket;
  readonly frames: ServerFrame[] = [];
  readonly faults: unknown[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;

  constructor(url: string, options: ClientOptions = {}) {
    this.ws = new WebSocket(url, options);
    this.closed = new Promise((resolve) => {
      this.ws.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
    this.ws.on('error', (error) => this.faults.push(error));
    this.ws.on('message', (data) => {
      const frame = JSON.parse((data as Buffer).toString()) as ServerFrame;
      this.frames.push(frame);
      try {
        expectSchema(frame.type === 'pong' ? 'pong' : `event.${frame.event}`, frame);
      } catch (error) {
        this.faults.push(error);
      }
    });
  }

  static async open(url: string, options: ClientOptions = {}): Promise<Client> {
    const client = new Client(url, options);
    await once(client.ws, 'open');
    return client;
  }

  send(value: unknown): void {
    this.ws.send(JSON.stringify(value));
  }

  text(text: string): void {
    this.ws.send(text);
  }

  binary(bytes: Uint8Array): void {
    this.ws.send(bytes);
  }

  events(name: string): ServerFrame[] {
    return this.frames.filter((frame) => frame.event === name);
  }

  names(): string[] {
    return this.frames.map((frame) => (frame.type === 'pong' ? 'pong' : frame.event));
  }

  /** The `count`th frame of that name. */
  async waitFor(name: string, count = 1): Promise<ServerFrame> {
    return until(
      () => {
        if (this.faults.length > 0) throw this.faults[0] as Error;
        return this.frames.filter((frame) => (frame.type === 'pong' ? 'pong' : frame.event) === name)[
          count - 1
        ];
      },
      20_000,
      `${name} (got ${this.names().join(', ')})`,
    );
  }

  /** Everything sent so far has been read by the service when this resolves. */
  async settled(): Promise<void> {
    const count = this.frames.filter((frame) => frame.type === 'pong').length + 1;
    this.send({ type: 'ping' });
    await this.waitFor('pong', count);
  }

  terminate(): void {
    this.ws.terminate();
  }
}

/** The HTTP status that an upgrade gets instead of a socket, with the answer's body. */
export async function refusedUpgrade(
  url: string,
  options: ClientOptions = {},
): Promise<{ status: number; body: Record<string, unknown>; headers: Record<string, unknown> }> {
  const ws = new WebSocket(url, options);
  return new Promise((resolve, reject) => {
    ws.on('open', () => reject(new Error('the upgrade was accepted')));
    ws.on('error', () => undefined);
    ws.on('unexpected-response', (_request, response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => {
        const body = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {};
        resolve({ status: response.statusCode ?? 0, body, headers: response.headers });
      });
    });
  });
}
