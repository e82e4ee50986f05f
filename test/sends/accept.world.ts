import { AcceptService } from '../../src/features/sends/accept.service.ts';
import { CredentialReports } from '../../src/features/sends/credential-reports.service.ts';
import type { ReportEnd } from '../../src/features/sends/credential-reports.service.ts';
import { SendCredentials } from '../../src/features/sends/send-credentials.service.ts';
import { SendRequests } from '../../src/features/sends/send-requests.service.ts';
import { sendRoutes } from '../../src/features/sends/send.routes.ts';
import { SendsQueryService } from '../../src/features/sends/sends.query.service.ts';
import { sendsRoutes } from '../../src/features/sends/sends.routes.ts';
import type { ManualClock } from '../../src/kernel/clock.ts';
import { systemIds } from '../../src/kernel/ids.ts';
import type { Ids } from '../../src/kernel/ids.ts';
import { createHttp, GuessGuard, listenHttp, mountRoutes } from '../../src/platform/http/index.ts';
import type { AuthenticateTeam, RouteSpec } from '../../src/platform/http/index.ts';
import { LocalLimiter } from '../../src/platform/limits/index.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import { createNet } from '../../src/platform/net/index.ts';
import type { Net } from '../../src/platform/net/index.ts';
import { AccountsWorld, testDb } from '../_util/index.ts';
import type { NewTestAccount, TestAccount, TestDb } from '../_util/index.ts';

// An answer off the wire, until it was compared.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Loose = any;

export interface AcceptWorldOptions {
  /** Sends a second of every account; omitted: 100,000. */
  readonly rate?: number;
  readonly waitingMax?: number;
  readonly ids?: Ids;
  readonly allowPrivateTargets?: boolean;
  /** Further routes over the same services. */
  readonly routes?: (world: { accounts: AccountsWorld; accept: AcceptService }) => {
    routes: RouteSpec[];
    authenticateTeam: AuthenticateTeam;
  };
}

export interface Asked {
  readonly as?: { readonly key: string; readonly secret: string };
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  /** Says nothing of the body's type. */
  readonly isUntyped?: boolean;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly body: Loose;
}

export interface SendRow {
  readonly id: string;
  readonly team_id: string;
  readonly channel: string;
  readonly version: number;
  readonly state: string;
  readonly request: Loose;
  readonly accept_code: number | null;
  readonly created_by: string;
  readonly foreign_id: string | null;
  readonly callback_url: string | null;
  readonly created_at: Date;
}

/** The send routes on a real port over a database, a clock that moves when told to, and no dispatcher. */
export class AcceptWorld {
  readonly database: TestDb;
  readonly accounts: AccountsWorld;
  readonly clock: ManualClock;
  readonly accept: AcceptService;
  readonly reports: CredentialReports;
  /** What became of reports of refused credentials. */
  readonly ends: ReportEnd[] = [];
  readonly routes: RouteSpec[];
  readonly #net: Net;
  #url = '';
  #stop: () => Promise<void> = async () => undefined;

  private constructor(database: TestDb, options: AcceptWorldOptions) {
    this.database = database;
    this.accounts = new AccountsWorld(database);
    this.clock = this.accounts.clock;
    this.clock.advance(Date.now() - this.clock.nowMs());
    const { db, outbox, authenticator } = this.accounts.services;
    const { clock } = this;
    const ids = options.ids ?? systemIds;
    const allowPrivateTargets = options.allowPrivateTargets ?? true;
    this.#net = createNet({ allowPrivateTargets, logger: silentLogger });
    const limiter = new LocalLimiter({ clock });
    this.accept = new AcceptService({
      ...{ outbox, clock, ids, limiter, rateOf: async () => options.rate ?? 100_000 },
      ...(options.waitingMax === undefined ? {} : { waitingMax: options.waitingMax }),
    });
    this.reports = new CredentialReports({
      ...{ net: this.#net, clock, ids, observe: (end) => this.ends.push(end) },
    });
    const credentials = new SendCredentials({ authenticate: (given) => authenticator.authenticate(given) });
    const { accept, reports } = this;
    const sendRequests = new SendRequests({ credentials, reports, accept, clock, ids });
    const sendsQuery = new SendsQueryService({ db });
    this.routes = [...sendRoutes({ sendRequests }), ...sendsRoutes({ sendsQuery })];
  }

  static async start(options: AcceptWorldOptions = {}): Promise<AcceptWorld> {
    const world = new AcceptWorld(await testDb(), options);
    await world.#listen(options);
    return world;
  }

  get url(): string {
    return this.#url;
  }

  account(of?: NewTestAccount): Promise<TestAccount> {
    return this.accounts.account(of);
  }

  /** A body that is no text or bytes goes as JSON. */
  async request(method: string, path: string, of: Asked = {}): Promise<Answer> {
    const { as, body, headers = {} } = of;
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(this.#url + path, {
      method,
      headers: {
        ...(body === undefined || of.isUntyped ? {} : { 'content-type': 'application/json' }),
        ...(as ? { 'x-key': as.key, 'x-secret': as.secret } : {}),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isRaw ? (body as string) : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, text, body: isJson ? JSON.parse(text) : undefined };
  }

  /** A send that is taken; its message_id. */
  async taken(path: string, of: Asked): Promise<string> {
    const answer = await this.request('POST', path, of);
    if (answer.status !== 202) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`);
    return String(answer.body.message_id);
  }

  async sends(teamId: string): Promise<SendRow[]> {
    const sql = 'select * from sends where team_id = $1 order by id';
    return (await this.database.db.query<SendRow & object>(sql, [teamId])).rows;
  }

  async close(): Promise<void> {
    await this.#stop();
    await this.reports.close();
    await this.#net.close();
    await this.accounts.close();
    await this.database.drop();
  }

  async #listen(options: AcceptWorldOptions): Promise<void> {
    const { authenticator, gates, addresses } = this.accounts.services;
    const limiter = new LocalLimiter({ clock: this.clock });
    const publicUrl = (): string => addresses.publicUrl();
    const more = options.routes?.(this);
    const app = createHttp({
      ...{ logger: silentLogger, ids: systemIds, tls: null, trustProxy: ['127.0.0.1'], publicUrl },
    });
    await mountRoutes(app, {
      routes: [...this.routes, ...(more?.routes ?? [])],
      authenticate: (credentials) => authenticator.authenticate(credentials),
      ...(more ? { authenticateTeam: more.authenticateTeam } : {}),
      gates,
      limits: {
        limiter,
        perRoute: { perSecond: 100_000, burst: 100_000 },
      },
      guard: new GuessGuard({ limiter }),
      browserScopes: new Set(),
    });
    const port = await listenHttp(app, { host: '127.0.0.1', port: 0 });
    this.#url = `http://127.0.0.1:${port}`;
    this.#stop = async () => {
      app.server.closeAllConnections();
      await app.close();
    };
  }
}
