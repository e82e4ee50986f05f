import { createHmac, generateKeyPairSync, randomUUID } from 'node:crypto';
import type { CarrierAnswer, MailCarrier, OpenCarrier } from '../../src/features/carriers/index.ts';
import { DEFAULT_RULES } from '../../src/features/delivery-rules/index.ts';
import type { DialingRules } from '../../src/features/delivery-rules/index.ts';
import { createEmail, createEmailSweeps, emailRoutes } from '../../src/features/email/index.ts';
import type { EmailServices } from '../../src/features/email/index.ts';
import { dkimContext } from '../../src/features/lookups/index.ts';
import { ManualClock } from '../../src/kernel/clock.ts';
import { createHttp, GuessGuard, listenHttp, mountRoutes } from '../../src/platform/http/index.ts';
import type { HttpApp } from '../../src/platform/http/index.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import type { News } from '../../src/platform/outbox/index.ts';
import { startApi } from '../_util/api.ts';
import type { NewTestAccount, TestAccount, TestApi } from '../_util/api.ts';
import { testDb } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';
import { MailServer, TestMailCarrier } from './mail.server.ts';

export const START_MS = Date.parse('2026-03-02T12:00:00Z');
export const HOUR_MS = 3_600_000;
/** Signing keys of the domains: one, since making one takes its time. */
export const DKIM_KEY = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();
const RATE = { perSecond: 100_000, burst: 100_000 };

// An answer off the wire or a row, until it was compared.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Loose = any;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  readonly text: string;
  readonly body: Loose;
  readonly data: Loose;
}

/** An account that may send: with a verified domain of its own and a mailbox of it. */
export interface Sender extends TestAccount {
  readonly domain: string;
  readonly mailboxId: string;
}

/** The email routes on a real port, over a test database and a real SMTP server. */
export class EmailWorld {
  readonly clock = new ManualClock(START_MS);
  readonly mail = new MailServer();
  readonly carrier = new TestMailCarrier(() => this.mail.port);
  /** Stands for `carrier` while it is set. */
  port: MailCarrier | null = null;
  rules: DialingRules = DEFAULT_RULES;
  readonly news: News[] = [];
  email!: EmailServices;
  url = '';
  #database!: TestDb;
  #api!: TestApi;
  #app!: HttpApp;

  static async start(): Promise<EmailWorld> {
    const world = new EmailWorld();
    await world.#start();
    return world;
  }

  async #start(): Promise<void> {
    await this.mail.start();
    this.#database = await testDb({ maxConnections: 4 });
    this.#api = await startApi(this.#database, { clock: this.clock });
    const { services } = this.#api;
    this.email = createEmail({
      ...services,
      announce: async (tx, news) => {
        this.news.push(...news);
        await services.publisher.announce(tx, news);
      },
      publicUrl: () => this.url,
      rules: { of: async () => this.rules },
      openMail: async (): Promise<OpenCarrier<'mail'>> => ({
        ...{ carrierId: null, kind: 'smtp', port: this.port ?? this.carrier },
      }),
    });
    const { ids, limiter, authenticator, gates } = services;
    const options = { logger: silentLogger, ids, tls: null, trustProxy: [], publicUrl: () => this.url };
    this.#app = createHttp(options);
    await mountRoutes(this.#app, {
      routes: emailRoutes(this.email),
      authenticate: (credentials) => authenticator.authenticate(credentials),
      ...{ gates, guard: new GuessGuard({ limiter }), browserScopes: new Set() },
      limits: { limiter, perRoute: RATE },
    });
    const port = await listenHttp(this.#app, { host: '127.0.0.1', port: 0 });
    this.url = `http://127.0.0.1:${port}`;
  }

  get api(): TestApi {
    return this.#api;
  }

  async close(): Promise<void> {
    this.#app.server.closeAllConnections();
    await this.#app.close();
    await this.#api.close();
    await this.#database.drop();
    await this.mail.close();
  }

  async sender(of: NewTestAccount & { purpose?: 'transactional' | 'bulk' } = {}): Promise<Sender> {
    const { purpose, ...rest } = of;
    const account = await this.#api.account(rest);
    const [domain, domainId, mailboxId] = [
      `${randomUUID().slice(0, 8)}.example.com`,
      randomUUID(),
      randomUUID(),
    ];
    const dkim = this.#api.services.cipher.encrypt(DKIM_KEY, dkimContext(domainId));
    await this.sql(
      `insert into sending_domains (id, team_id, domain, purpose, verified, verification_token, dkim_selector,
         dkim_public_key, dkim_private_ciphertext, created_by)
       values ($1, $2, $3, $4, true, 'token', 'tonegate', 'key', $5, $6)`,
      [domainId, account.teamId, domain, purpose ?? null, dkim, account.ownerId],
    );
    await this.sql(
      `insert into mailboxes (id, team_id, title, address, domain, display_name, created_by)
       values ($1, $2, 'News', $3, $4, 'Example Ltd', $5)`,
      [mailboxId, account.teamId, `news@${domain}`, domain, account.ownerId],
    );
    return { ...account, domain, mailboxId };
  }

  /** Sends to one address from the account's mailbox unless told otherwise. */
  async send(
    as: Sender,
    body: Record<string, unknown> = {},
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    this.clock.advance(1);
    const preset = { to: [{ address: 'ada@example.org' }], mailbox_id: as.mailboxId };
    const content = { subject: 'Your order', html: '<p>It is ready.</p>' };
    return this.request('POST', '/email/public/email', {
      as,
      body: { ...preset, ...content, ...body },
      headers,
    });
  }

  async request(
    method: string,
    path: string,
    options: { as?: { key: string; secret: string }; body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const { as, body } = options;
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(path.startsWith('http') ? path : this.url + path, {
      ...{ method, redirect: 'manual' },
      headers: {
        ...(as ? { 'x-key': as.key, 'x-secret': as.secret } : {}),
        ...(body === undefined || isRaw ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(body === undefined ? {} : { body: isRaw ? body : JSON.stringify(body) }),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const text = bytes.toString('utf8');
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    const parsed: unknown = isJson ? JSON.parse(text) : undefined;
    const { status, headers } = response;
    return { status, headers, bytes, text, body: parsed, data: (parsed as { data?: unknown })?.data };
  }

  /** A connection with a webhook secret, and a way to call its webhooks. */
  async hook(
    as: TestAccount,
  ): Promise<{ carrierId: string; call: (kind: 'events' | 'inbound', body: string) => Promise<Answer> }> {
    const carrierId = randomUUID();
    await this.sql(
      `insert into carrier_connections (id, team_id, kind, name, settings_ciphertext, created_by)
       values ($1, $2, 'smtp', 'Mail', '', $3)`,
      [carrierId, as.teamId, as.ownerId],
    );
    const { secret } = await this.email.hooks.rotate(as.caller, carrierId);
    const call = (kind: 'events' | 'inbound', body: string): Promise<Answer> =>
      this.request('POST', `/email/public/${kind}/${carrierId}`, {
        body,
        headers: {
          'content-type': kind === 'events' ? 'application/json' : 'message/rfc822',
          ...signatureOf(secret, this.clock.nowMs(), body),
        },
      });
    return { carrierId, call };
  }

  /** Names and statuses of what was told of an account's emails. */
  told(teamId: string): string[] {
    return this.news
      .filter((one) => one.teamId === teamId && one.event.startsWith('contact.email.'))
      .map(({ event, data }) => `${event} ${String(data['status'])}`);
  }

  async history(as: Sender, query = ''): Promise<{ emails: Loose[]; total?: number }> {
    return (await this.request('GET', `/email/public/email?include_total=true${query}`, { as })).data;
  }

  async sweep(): Promise<Record<string, number>> {
    const { db } = this.#api.services;
    const { results } = this.email;
    const swept: Record<string, number> = {};
    for (const sweep of createEmailSweeps({ db, clock: this.clock, results, retentionDays: 90 }))
      swept[sweep.name] = await sweep.run();
    return swept;
  }

  async sql(text: string, values: unknown[] = []): Promise<Loose[]> {
    return (await this.#database.db.query(text, values)).rows;
  }
}

export function signatureOf(secret: string, nowMs: number, body: string): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1_000));
  const digest = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
  return { 'x-timestamp': timestamp, 'x-signature': `sha256=${digest}` };
}

/** A port that answers what it is told, when it is told. */
export class HeldCarrier implements MailCarrier {
  readonly #waiting: ((answer: CarrierAnswer) => void)[] = [];
  asked = 0;

  sendMail(): Promise<CarrierAnswer> {
    this.asked += 1;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  answer(answer: CarrierAnswer): void {
    for (const resolve of this.#waiting.splice(0)) resolve(answer);
  }
}
