import { inBatches } from '../../kernel/batches.ts';
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Caller } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import { Problem } from '../../kernel/problem.ts';
import { CipherError } from '../db/index.ts';
import type { Cipher, Db } from '../db/index.ts';

/** As REST's idempotency keys (supplement 1). */
const KEPT_MS = 86_400_000;
const KEY = /^[\x20-\x7e]{1,255}$/;
/** How long a repeated mutation waits for the first one's answer. */
const WAIT_MS = 5_000;
const WAIT_STEP_MS = 50;
/** Answers deleted by one statement, and statements of one sweep. */
const BATCH_ROWS = 1_000;
const BATCHES_MAX = 100;
const SWEEP_INTERVAL_MS = 600_000;

/** Takes the key; a row that outlived its time is taken over. No row: the key is taken. */
const CLAIM_SQL = `
insert into mutation_answers as m (team_id, idempotency_key, request_hash, created_at) values ($1, $2, $3, $4)
on conflict (team_id, idempotency_key) do update
  set request_hash = excluded.request_hash, answer = null, created_at = excluded.created_at
  where m.created_at < $5
returning 1 as claimed`;

const FIND_SQL = `
select request_hash, answer from mutation_answers where team_id = $1 and idempotency_key = $2`;

const KEEP_SQL = `
update mutation_answers set answer = $4
where team_id = $1 and idempotency_key = $2 and request_hash = $3 and answer is null`;

const FORGET_SQL = `
delete from mutation_answers
where team_id = $1 and idempotency_key = $2 and request_hash = $3 and answer is null`;

const DELETE_OLD_SQL = `
delete from mutation_answers where (team_id, idempotency_key) in (
  select team_id, idempotency_key from mutation_answers where created_at < $1 limit $2)`;

export interface RepeatableMutation {
  readonly idempotencyKey: string;
  /** Name and input of the mutation: the same key with others is a conflict. */
  readonly name: string;
  readonly input: unknown;
}

/**
 * Answers of mutations by their idempotencyKey, for 24 hours. A key is taken before the work and its answer is kept
 * after it, encrypted, since answers may show a secret once. Work that throws gives its key back. When a process dies in
 * between, the key stays taken: whether the work was done cannot be told, and doing it again might do it twice.
 */
export class MutationAnswers {
  /** The periodic job that calls `deleteOld`. */
  readonly sweep = { name: 'mutation-answers', intervalMs: SWEEP_INTERVAL_MS };
  readonly #db: Db;
  readonly #cipher: Cipher;
  readonly #clock: Clock;

  constructor(options: { db: Db; cipher: Cipher; clock: Clock }) {
    this.#db = options.db;
    this.#cipher = options.cipher;
    this.#clock = options.clock;
  }

  /** Does `work`, or answers as before. @throws Problem validation-error, conflict */
  async once<T>(caller: Caller, mutation: RepeatableMutation, work: () => Promise<T>): Promise<T> {
    const { idempotencyKey } = mutation;
    if (!KEY.test(idempotencyKey)) {
      const detail = 'idempotencyKey must have 1 to 255 printable ASCII characters.';
      throw new Problem('validation-error', detail, { field: 'idempotency_key' });
    }
    const row = [caller.teamId, idempotencyKey, hashOf(caller, mutation)];
    const nowMs = this.#clock.nowMs();
    const { rowCount } = await this.#db.query(CLAIM_SQL, [
      ...row,
      new Date(nowMs),
      new Date(nowMs - KEPT_MS),
    ]);
    if (rowCount !== 1) return this.#former<T>(caller.teamId, mutation, row[2] as Buffer);
    let answer: T;
    try {
      answer = await work();
    } catch (error) {
      await this.#db.query(FORGET_SQL, row);
      throw error;
    }
    const text = this.#cipher.encrypt(textOf(answer), contextOf(caller.teamId, idempotencyKey));
    await this.#db.query(KEEP_SQL, [...row, JSON.stringify(text)]);
    return answer;
  }

  /** Deletes answers that outlived their time, in batches; how many. */
  async deleteOld(): Promise<number> {
    const before = new Date(this.#clock.nowMs() - KEPT_MS);
    const bounds = { rowsMax: BATCH_ROWS, batchesMax: BATCHES_MAX };
    return inBatches(
      bounds,
      async () => (await this.#db.query(DELETE_OLD_SQL, [before, BATCH_ROWS])).rowCount ?? 0,
    );
  }

  async #former<T>(teamId: string, mutation: RepeatableMutation, hash: Buffer): Promise<T> {
    const { idempotencyKey } = mutation;
    for (let waitedMs = 0; waitedMs <= WAIT_MS; waitedMs += WAIT_STEP_MS) {
      const found = await this.#db.query<{ request_hash: Buffer; answer: string | null }>(FIND_SQL, [
        ...[teamId, idempotencyKey],
      ]);
      const row = found.rows[0];
      if (row && !row.request_hash.equals(hash)) {
        throw new Problem('conflict', 'The idempotencyKey was used with another input.');
      }
      if (row && row.answer !== null) {
        return this.#opened<T>(row.answer, contextOf(teamId, idempotencyKey));
      }
      if (!row) break;
      await delay(WAIT_STEP_MS);
    }
    throw new Problem(
      'conflict',
      'A mutation with this idempotencyKey is under way, or ended without an answer.',
    );
  }

  /** Answers are short-lived: they are not encrypted again when the master key changes. */
  #opened<T>(ciphertext: string, context: string): T {
    try {
      return valueOf(this.#cipher.decrypt(ciphertext, context)) as T;
    } catch (error) {
      if (!(error instanceof CipherError)) throw error;
      throw new Problem('conflict', 'The mutation was done, but its answer can no longer be read.');
    }
  }
}

const contextOf = (teamId: string, key: string): string => `mutation-answer:${teamId}:${key}`;

/** Bound to the credential and what it may do: an answer is repeated to nobody who could not have got it. */
function hashOf(caller: Caller, { name, input }: RepeatableMutation): Buffer {
  const scopes = [...caller.scopes].sort();
  return createHash('sha256')
    .update(textOf([caller.credentialId, scopes, name, sorted(input)]))
    .digest();
}

/** The order of an input's fields does not count. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}

/** Cannot be in what callers send: NUL is refused there. */
const BIGINT = '\0bigint';

const textOf = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'bigint' ? { [BIGINT]: String(inner) } : inner,
  );

const valueOf = (text: string): unknown =>
  JSON.parse(text, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && BIGINT in inner
      ? BigInt(String((inner as Record<string, unknown>)[BIGINT]))
      : inner,
  );
