import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKeyExpiryHandler } from '../../src/features/credentials/index.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import { Relay } from '../../src/platform/outbox/index.ts';
import { createQueue } from '../../src/platform/queue/index.ts';
import type { Queue } from '../../src/platform/queue/index.ts';
import { AccountsWorld, testDb } from '../_util/index.ts';
import type { TestAccount, TestDb } from '../_util/index.ts';

/** Runs × commands; each command is some statements, so that the whole stays within seconds. */
const RUNS = 30;
const COMMANDS_MAX = 50;

/** What must be true of a key: valid until it is deleted or its time comes; a suspended one is refused otherwise. */
interface KeyModel {
  keyId: string;
  key: string;
  secret: string;
  expiresAtMs: number | null;
  isDeleted: boolean;
  isSuspended: boolean;
  uses: number;
}

describe('the states of API keys', () => {
  let database: TestDb;
  let world: AccountsWorld;
  let operator: TestAccount;
  let queue: Queue;
  let relay: Relay;

  beforeAll(async () => {
    database = await testDb();
    world = new AccountsWorld(database);
    operator = await world.account({ operator: true });
    const { db, clock, ids } = world.services;
    queue = createQueue({ logger: silentLogger, clock });
    const handlers = [createKeyExpiryHandler(db)];
    relay = new Relay({ db, queue, clock, logger: silentLogger, ids, handlers });
  });
  afterAll(async () => {
    await relay.stop({ graceMs: 0 });
    await queue.close();
    await world.close();
    await database.drop();
  });

  class Run {
    readonly keys: KeyModel[] = [];
    readonly account: TestAccount;

    constructor(account: TestAccount) {
      this.account = account;
    }

    isExpired = ({ expiresAtMs }: KeyModel): boolean =>
      expiresAtMs !== null && expiresAtMs <= world.clock.nowMs();

    async create(expiresInSeconds: number | undefined): Promise<void> {
      const made = await world.services.apiKeys.create(this.account.caller, { expiresInSeconds });
      const { keyId, key, secret, expiresAtMs } = made;
      this.keys.push({ keyId, key, secret, expiresAtMs, isDeleted: false, isSuspended: false, uses: 0 });
    }

    async use(key: KeyModel): Promise<void> {
      const { authenticator } = world.services;
      const result = await authenticator.authenticate(key).catch((error: { status: number }) => error.status);
      if (key.isDeleted || this.isExpired(key)) return expect(result).toBe(401);
      if (key.isSuspended) return expect(result).toBe(403);
      expect(result).toMatchObject({ credentialId: key.keyId });
      key.uses += 1;
    }

    async delete(key: KeyModel): Promise<void> {
      const done = await world.services.apiKeys
        .delete(this.account.caller, key.keyId)
        .then(() => 200)
        .catch((error: { status: number }) => error.status);
      // An expired key is still there until the worker comes by; deleting it then is no fault.
      if (key.isDeleted) expect(done).toBe(404);
      else if (this.isExpired(key)) expect([200, 404]).toContain(done);
      else expect(done).toBe(200);
      key.isDeleted = true;
    }

    async suspend(key: KeyModel, suspended: boolean): Promise<void> {
      const of = { teamId: this.account.teamId, keyId: key.keyId, suspended };
      const isGone = key.isDeleted || this.isExpired(key);
      const done = await world.services.apiKeys.setSuspended(operator.caller, of).then(
        () => 200,
        (error: { status: number }) => error.status,
      );
      if (!isGone) expect(done).toBe(200);
      key.isSuspended = suspended;
    }

    async check(): Promise<void> {
      const listed = await world.services.apiKeys.list(this.account.caller);
      const shown = new Map(listed.map((key) => [key.keyId, key.requestCount]));
      const alive = this.keys.filter((key) => !key.isDeleted && !this.isExpired(key));
      for (const key of alive) expect([key.keyId, shown.get(key.keyId)]).toEqual([key.keyId, key.uses]);
      // The account's first key is the one more.
      expect(shown.size).toBe(alive.length + 1);
    }
  }

  /** From the newest key on: those are the ones about to expire. */
  const index = fc.nat({ max: 7 });
  const command = fc.oneof(
    fc.record({
      do: fc.constant('create' as const),
      sec: fc.option(fc.constantFrom(300, 301, 600), { nil: undefined }),
    }),
    fc.record({ do: fc.constantFrom('use', 'delete', 'suspend', 'resume'), at: index }),
    { weight: 3, arbitrary: fc.record({ do: fc.constant('use' as const), at: index }) },
    fc.record({ do: fc.constant('wait' as const), sec: fc.constantFrom(1, 150, 300) }),
    fc.record({ do: fc.constant('work' as const) }),
  );
  type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

  const perform = async (run: Run, step: Command): Promise<void> => {
    if (step.do === 'create') return run.create(step.sec);
    if (step.do === 'wait') return world.clock.advance(step.sec * 1_000);
    if (step.do === 'work') return relay.poke();
    const key = 'at' in step ? run.keys.at(-1 - (step.at % Math.max(run.keys.length, 1))) : undefined;
    if (!key) return;
    if (step.do === 'use') return run.use(key);
    if (step.do === 'delete') return run.delete(key);
    return run.suspend(key, step.do === 'suspend');
  };

  it('are those of the model after any commands: uses counted, deleted and expired ones refused and gone', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(command, { minLength: COMMANDS_MAX / 2, maxLength: COMMANDS_MAX, size: 'max' }),
        async (steps) => {
          const run = new Run(await world.account());
          for (const step of steps) await perform(run, step);
          await run.check();
        },
      ),
      { numRuns: RUNS },
    );
  });

  it('leave no row of an expired key behind once the worker came by', async () => {
    world.clock.advance(1_000_000);
    await relay.poke();
    const { rows } = await database.db.query(
      'select count(*)::int as n from api_keys where expires_at is not null',
    );
    expect(rows).toEqual([{ n: 0 }]);
    const left = await database.db.query(
      `select (select count(*) from outbox)::int + (select count(*) from outbox_later)::int as n`,
    );
    expect(left.rows).toEqual([{ n: 0 }]);
  });
});
