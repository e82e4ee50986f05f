import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi } from '../_util/api.ts';
import type { TestAccount, TestApi } from '../_util/api.ts';
import { testDb } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';
import { ask, countStatements } from './_client.ts';
import { furnish, insertSession } from './_world.ts';

let db: TestDb;
let api: TestApi;
let account: TestAccount;
let operator: TestAccount;

beforeAll(async () => {
  db = await testDb();
  api = await startApi(db);
  account = await api.account();
  operator = await api.account({ operator: true });
  await furnish(db, api, account);
});

afterAll(async () => {
  await api.close();
  await db.drop();
});

/** The nested queries of the console, each with what adds rows to every list it walks. */
const QUERIES: Record<string, { query: string; grow: (n: number) => Promise<void>; asOperator?: true }> = {
  'contacts with all that surrounds them': {
    query: `{ contacts(first: 20) { totalCount nodes { firstName owner { displayName } lists { name } tags { label }
      notes(first: 2) { totalCount nodes { noteText user { displayName } } }
      timeline(first: 2) { nodes { type } } followUps(first: 2) { nodes { status } }
      consent(first: 2) { nodes { consentType } } } } }`,
    grow: async (n) => {
      const { services } = api;
      const { caller } = account;
      const phone = `+1202555013${n}`;
      const { inserted } = await services.contactImport.create(caller, { named: { phone_number: phone } });
      const contact = inserted[0] ?? '';
      await services.notes.create(caller, contact, { note: `Note ${n}` });
      const list = await services.lists.create(caller, { name: `List ${n}` });
      await services.lists.add(caller, list.listId, [contact]);
      const tag = await services.tags.create(caller, { label: `Tag ${n}` });
      await services.contactTags.add(caller, contact, tag.tagId);
      await services.followUps.create(caller, contact, { scheduledAt: services.clock.nowMs() + 3_600_000 });
      await services.owners.change(caller, contact, account.ownerId);
    },
  },
  'sessions with keys, events, evidence and latency': {
    query: `{ detectionSessions(first: 20) { totalCount nodes { id verdict audioSeconds evidence key { name }
      latency { timeToVerdictMs } events(first: 5) { event timestampMs } } } }`,
    grow: async () => {
      const { keyId } = await api.services.detectionKeys.create(account.caller, {});
      await insertSession(db.db, { teamId: account.teamId, keyId });
    },
  },
  'deliveries with their attempts': {
    query: '{ webhookDeliveries(first: 20) { totalCount nodes { event state attempts { statusCode } } } }',
    grow: async () => {
      await db.db.query(
        `with d as (
           insert into webhook_deliveries (id, team_id, kind, source_id, sequence, event, url, body, signing_key_id, state,
             created_at)
           values (gen_random_uuid(), $1, 'detection', gen_random_uuid(), 1, 'beep', 'https://example.com', '{}',
             gen_random_uuid(), 'failed', now()) returning id)
         insert into webhook_attempts (delivery_id, attempt, team_id, started_at, duration_ms)
         select id, 1, $1, now(), 5 from d`,
        [account.teamId],
      );
    },
  },
  'accounts with balances and users': {
    query: '{ teams(first: 20) { totalCount nodes { name balance { available } users { displayName } } } }',
    grow: async (n) => void (await api.account({ name: `Account ${n}` })),
    asOperator: true,
  },
};

const GROWN_ROWS = 6;

describe('statements of nested queries', () => {
  for (const [name, { query, grow, asOperator }] of Object.entries(QUERIES)) {
    it(`stay the same while rows grow: ${name}`, async () => {
      const run = async (): Promise<number> => {
        const as = asOperator ? operator : account;
        const answer = await ask(api, query, { as });
        expect(answer.errors).toBeUndefined();
        const [connection] = Object.values<{ nodes: unknown[] }>(answer.data);
        return connection?.nodes.length ?? 0;
      };
      await run();
      const [few, fewRows] = await counted(run);
      for (let n = 0; n < GROWN_ROWS; n += 1) await grow(n);
      const [many, manyRows] = await counted(run);
      expect(manyRows).toBeGreaterThan(fewRows);
      expect(many).toBe(few);
      expect(many).toBeLessThanOrEqual(20);
    });
  }
});

async function counted(run: () => Promise<number>): Promise<[number, number]> {
  let rows = 0;
  const statements = await countStatements(api, async () => {
    rows = await run();
  });
  return [statements, rows];
}

describe('figures of detection', () => {
  it('count verdicts and tell the time to a verdict, by key and hour', async () => {
    const fresh = await api.account();
    const first = await api.services.detectionKeys.create(fresh.caller, { name: 'pbx-1' });
    const second = await api.services.detectionKeys.create(fresh.caller, { name: 'pbx-2' });
    const startedAt = new Date(Date.now() - 7_200_000);
    const base = { teamId: fresh.teamId, startedAt };
    for (const firstMs of [1_000, 2_000, 3_000]) {
      await insertSession(db.db, { ...base, keyId: first.keyId, verdict: 'live_person', firstMs });
    }
    await insertSession(db.db, { ...base, keyId: second.keyId, firstMs: 4_000 });
    const query = `{ detectionStats {
      all { sessions livePerson voicemail silence none beeps audioSeconds timeToVerdictP50Ms timeToVerdictP95Ms }
      byKey { key { name } sessions livePerson } byHour { hour sessions } } }`;
    const { data, errors } = await ask(api, query, { as: fresh });
    expect(errors).toBeUndefined();
    expect(data.detectionStats.all).toEqual({
      ...{ sessions: 4, livePerson: 3, voicemail: 1, silence: 0, none: 0, beeps: 4, audioSeconds: 48 },
      ...{ timeToVerdictP50Ms: 2_500, timeToVerdictP95Ms: 3_850 },
    });
    const byKey = data.detectionStats.byKey as { key: { name: string }; sessions: number }[];
    expect(byKey.map(({ key, sessions }) => [key.name, sessions]).sort()).toEqual([
      ['pbx-1', 3],
      ['pbx-2', 1],
    ]);
    expect(data.detectionStats.byHour).toEqual([
      { hour: new Date(Math.floor(startedAt.getTime() / 3_600_000) * 3_600_000).toISOString(), sessions: 4 },
    ]);
  });
});
