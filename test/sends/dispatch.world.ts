import type { CarrierWork, OpenCarrier } from '../../src/features/carriers/index.ts';
import { DialingRulesService } from '../../src/features/delivery-rules/index.ts';
import type { SendChannel } from '../../src/features/delivery-rules/index.ts';
import { createCallbackHandler } from '../../src/features/sends/callback.jobs.ts';
import { createDispatchHandler, createResultHandlers } from '../../src/features/sends/dispatch.jobs.ts';
import type { DispatchOptions } from '../../src/features/sends/dispatch.options.type.ts';
import { SendResults } from '../../src/features/sends/result.receipts.service.ts';
import { TOPICS } from '../../src/features/sends/send.type.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import { createNet } from '../../src/platform/net/index.ts';
import type { Net } from '../../src/platform/net/index.ts';
import { Relay } from '../../src/platform/outbox/index.ts';
import type { Handler, News } from '../../src/platform/outbox/index.ts';
import { createQueue } from '../../src/platform/queue/index.ts';
import { AccountsWorld, testDb } from '../_util/index.ts';
import type { TestAccount, TestDb } from '../_util/index.ts';
import { RecordingCarrier } from '../_util/carriers.ts';

const DAY_MS = 86_400_000;
/** Of numbers that are dialled: New York. */
const AREA = '+1212';

export interface SenderAccount extends TestAccount {
  readonly brandId: string;
  readonly voiceLineId: string;
  readonly textLineId: string;
  readonly agentId: string;
  readonly mediaId: string;
}

export interface SendView {
  readonly state: string;
  readonly outcome_code: number | null;
  readonly reason: string | null;
  readonly detail: string | null;
  readonly attempt: number;
  readonly segments: number | null;
  readonly quantity: number;
  readonly contact_id: string | null;
  readonly phone_number: string | null;
  readonly caller_id: string | null;
  readonly held_until: Date | null;
  readonly carrier_message_id: string | null;
  readonly product_cost_micros: bigint;
  readonly tts_fee_micros: bigint;
}

export interface StepView {
  readonly kind: string;
  readonly detail: any; // eslint-disable-line @typescript-eslint/no-explicit-any
}

/** Sends over a database, a clock that moves when told to, a carrier that keeps what it was asked, and the worker by hand. */
export class DispatchWorld {
  readonly accounts: AccountsWorld;
  readonly carrier = new RecordingCarrier();
  /** Carriers of accounts that have their own. */
  readonly own = new Map<string, RecordingCarrier>();
  /** Everything that was announced. */
  readonly news: News[] = [];
  readonly results: SendResults;
  readonly options: DispatchOptions;
  readonly spoken: { voiceId: string; text: string }[] = [];
  readonly #database: TestDb;
  readonly #net: Net;
  readonly #callbackNet: Net;
  #numbers = 5_550_200;

  private constructor(database: TestDb) {
    this.#database = database;
    this.accounts = new AccountsWorld(database);
    const { db, outbox, ids, ledger, timeline, dnc, publisher } = this.accounts.services;
    const { clock } = this;
    const resolve = async () => [{ address: '93.184.216.34', family: 4 as const }];
    const boundary = { resolve, connect: () => Promise.reject(new Error('no network')) as never };
    this.#net = createNet({ allowPrivateTargets: false, logger: silentLogger, boundary });
    this.#callbackNet = createNet({ allowPrivateTargets: true, logger: silentLogger });
    this.results = new SendResults({
      ...{ outbox, clock, ids, ledger, timeline, dnc, publicUrl: () => 'https://api.example.com' },
      announce: async (tx, news) => {
        this.news.push(...news);
        await publisher.announce(tx, news);
      },
    });
    this.options = {
      ...{ db, outbox, clock, ledger, results: this.results, net: this.#net, random: () => 0 },
      rules: new DialingRulesService({ db, clock }),
      carriers: {
        open: async (teamId, work) => (this.own.get(teamId) ?? this.carrier).open(work),
        simulator: <W extends CarrierWork>() => this.carrier.open('call') as OpenCarrier<W>,
        statusUrlOf: ({ carrierId, sendId, attempt }) =>
          `https://api.example.com/s/${carrierId}/${sendId}/${attempt}`,
      },
      audio: {
        voices: async () => new Set(['en-us']),
        speak: async ({ voiceId, text }) => {
          this.spoken.push({ voiceId, text });
          return `spoken-${this.spoken.length}`;
        },
        fetch: async ({ url }) => (url.includes('missing') ? null : 'fetched'),
        addressOf: (key) => `https://api.example.com/audio/${key}`,
      },
      streamOf: (plan) => ({ url: 'wss://detect.example.com', parameters: { plan: JSON.stringify(plan) } }),
    };
  }

  static async start(): Promise<DispatchWorld> {
    const world = new DispatchWorld(await testDb());
    // Noon in New York on a Monday, so that nobody is asleep.
    world.clock.advance(Date.parse('2026-03-02T17:00:00Z') - world.clock.nowMs());
    await world.query('select make_send_partitions($1, $2)', [
      new Date(world.nowMs - 7 * DAY_MS),
      new Date(world.nowMs + 120 * DAY_MS),
    ]);
    return world;
  }

  get clock() {
    return this.accounts.clock;
  }

  get nowMs(): number {
    return this.clock.nowMs();
  }

  async query<R extends Record<string, unknown>>(sql: string, values: unknown[] = []): Promise<R[]> {
    return (await this.#database.db.query<R>(sql, values)).rows;
  }

  /** An account with lines, numbers, a brand with a texting campaign, a media and an agent. */
  async account(of: { funds?: number; isBare?: boolean } = {}): Promise<SenderAccount> {
    const account = await this.accounts.account({ funds: of.funds ?? 100 });
    const { teamId, ownerId } = account;
    const uuid = () => this.accounts.services.ids.uuid();
    const made = {
      brandId: uuid(),
      voiceLineId: uuid(),
      textLineId: uuid(),
      agentId: uuid(),
      mediaId: uuid(),
    };
    if (of.isBare) return { ...account, ...made };
    await this.query(
      `insert into brands (id, team_id, company_name, registered, api_allowed, texting_campaign_status, created_by)
       values ($1, $2, 'Acme', true, true, 'approved', $3)`,
      [made.brandId, teamId, ownerId],
    );
    for (const [type, lineId] of [
      ['voice', made.voiceLineId],
      ['sms', made.textLineId],
    ] as const) {
      await this.query(
        `insert into phone_lines (id, team_id, name, type, is_default, brand_id, created_by)
         values ($1, $2, 'Main', $3, true, $4, $5)`,
        [lineId, teamId, type, made.brandId, ownerId],
      );
      await this.query(
        'insert into phone_numbers (id, team_id, phone_number, phone_line_id) values ($1, $2, $3, $4)',
        [uuid(), teamId, type === 'voice' ? '+12025550111' : '+12025550122', lineId],
      );
    }
    await this.query(
      'insert into agents (id, team_id, name, simulated, published_version) values ($1, $2, $3, true, 1)',
      [...[made.agentId, teamId, 'Agent']],
    );
    await this.query(
      `insert into media (id, team_id, name, type, state, storage_key, size_bytes, created_by)
       values ($1, $2, 'Hello', 'audio', 'ready', $4, 8, $3)`,
      [made.mediaId, teamId, ownerId, made.mediaId],
    );
    return { ...account, ...made };
  }

  /** A carrier of the account's own. */
  connect(account: { teamId: string }): RecordingCarrier {
    const carrier = new RecordingCarrier({ carrierId: this.accounts.services.ids.uuid() });
    this.own.set(account.teamId, carrier);
    return carrier;
  }

  /** A number nobody else uses in this test file. */
  number(): string {
    this.#numbers += 1;
    return `${AREA}${this.#numbers}`;
  }

  /** A contact with a number; answers its id. */
  async contact(account: TestAccount, of: Record<string, unknown> = {}): Promise<string> {
    const id = this.accounts.services.ids.uuid();
    const fields = { first_name: 'Ada', ...of };
    const names = Object.keys(fields);
    await this.query(
      `insert into contacts (id, team_id, created_by, ${names.join(', ')})
       values ($1, $2, $3, ${names.map((_, index) => `$${index + 4}`).join(', ')})`,
      [id, account.teamId, account.ownerId, ...Object.values(fields)],
    );
    return id;
  }

  /** Accepts a send as its route would; answers its id. Nothing is done with it yet. */
  async accept(
    account: TestAccount,
    channel: SendChannel,
    request: unknown,
    of: { acceptCode?: number; version?: 1 | 2 } = {},
  ): Promise<string> {
    const { ids, outbox } = this.accounts.services;
    const { teamId, ownerId } = account;
    const sendId = ids.timed(this.nowMs);
    const lifted = (request ?? {}) as { foreign_id?: unknown; callback_url?: unknown };
    const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
    await outbox.tx(async (tx) => {
      await tx.query(
        `insert into sends (id, team_id, channel, version, request, accept_code, created_by, foreign_id, callback_url, created_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
        [
          ...[
            sendId,
            teamId,
            channel,
            of.version ?? 2,
            JSON.stringify(request),
            of.acceptCode ?? null,
            ownerId,
          ],
          ...[text(lifted.foreign_id), text(lifted.callback_url), new Date(this.nowMs)],
        ],
      );
      const lane = `${teamId}:${channel}`;
      await outbox.add(tx, [{ topic: TOPICS.dispatch, key: sendId, lane, payload: {} }]);
    });
    return sendId;
  }

  handlers(options: Partial<DispatchOptions> = {}): Handler[] {
    const { db } = this.accounts.services;
    return [
      createDispatchHandler({ ...this.options, ...options }),
      ...createResultHandlers({ results: this.results }),
      createCallbackHandler({ db, clock: this.clock, net: this.#callbackNet }),
    ];
  }

  relay(handlers: Handler[] = this.handlers()): Relay {
    const { db, ids } = this.accounts.services;
    const queue = createQueue({ logger: silentLogger, clock: this.clock });
    return new Relay({ db, queue, clock: this.clock, logger: silentLogger, ids, handlers });
  }

  /** Does what the worker would do now. */
  async work(handlers?: Handler[]): Promise<void> {
    const relay = this.relay(handlers);
    await relay.poke();
    await relay.stop({ graceMs: 0 });
  }

  /** Accepts and works; how it stands then. */
  async send(...of: Parameters<DispatchWorld['accept']>): Promise<SendView & { readonly sendId: string }> {
    const sendId = await this.accept(...of);
    await this.work();
    return { ...(await this.view(sendId)), sendId };
  }

  async view(sendId: string): Promise<SendView> {
    const [send] = await this.query<SendView & Record<string, unknown>>('select * from sends where id = $1', [
      sendId,
    ]);
    if (!send) throw new Error('there is no such send');
    return send;
  }

  async steps(sendId: string): Promise<StepView[]> {
    return this.query<StepView & Record<string, unknown>>(
      'select kind, detail from send_steps where send_id = $1 order by step',
      [sendId],
    );
  }

  async kinds(sendId: string): Promise<string[]> {
    return (await this.steps(sendId)).map(({ kind }) => kind);
  }

  /** Balance and reserved part, in units. */
  async funds(account: { teamId: string }): Promise<{ balance: number; reserved: number }> {
    const found = await this.accounts.services.ledger.balance(account.teamId);
    return {
      balance: Number(found.balanceMicros) / 1_000_000,
      reserved: Number(found.reservedMicros) / 1_000_000,
    };
  }

  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  newsOf(account: { teamId: string }, event: string): Record<string, any>[] {
    return this.news
      .filter((item) => item.teamId === account.teamId && item.event === event)
      .map(({ data }) => data);
  }

  async close(): Promise<void> {
    await this.#net.close();
    await this.#callbackNet.close();
    await this.accounts.close();
    await this.#database.drop();
  }
}
