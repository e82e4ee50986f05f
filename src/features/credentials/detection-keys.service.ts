import { requireOperator, requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import { isUuid } from '../../kernel/ids.ts';
import type { Ids } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Cipher, Db, Tx } from '../../platform/db/index.ts';
import { DETECTION_KEYS_CHANNEL } from '../accounts/index.ts';
import type { AccountsService, IssuedFor, LedgerService } from '../accounts/index.ts';
import { available } from './availability.ts';
import { checkMayCreate, DETECTION_KEYS_MAX, expiryMs, keyName, statusOf } from './credentials.rules.ts';
import type { DetectionKeyStatus, NewKey } from './credentials.rules.ts';
import { DetectionKeysStore } from './detection-keys.store.ts';
import type { DetectionKeyRow } from './detection-keys.store.ts';
import { detectionKeyContext } from './detection-key.lookup.service.ts';
import { DETECTION_KEY_PREFIX, formatSecret, hashOf, hintOf, SECRET_BYTES } from './key-format.rules.ts';

const NAME_LABEL = 'Detection key';

/** A key as its owner sees it. */
export interface DetectionKey {
  keyId: string;
  name: string;
  keyHint: string;
  createdAtMs: number;
  expiresAtMs: number | null;
}

export interface DetectionKeysOptions {
  db: Db;
  cipher: Cipher;
  clock: Clock;
  ids: Ids;
  accounts: Pick<AccountsService, 'get'>;
  ledger: Pick<LedgerService, 'balance'>;
}

/** Detection keys of the caller's account. While the database is away every method throws service-unavailable. */
export class DetectionKeysService {
  readonly #options: DetectionKeysOptions;
  readonly #store: DetectionKeysStore;

  constructor(options: DetectionKeysOptions) {
    this.#options = options;
    this.#store = new DetectionKeysStore(options.db);
  }

  /**
   * The answer is the only place where the key is shown.
   * @throws Problem insufficient-scope, validation-error, conflict, trial_feature_blocked, team-not-verified, byoc-required
   */
  async create(caller: Caller, input: NewKey): Promise<DetectionKey & { apiKey: string }> {
    requireScope(caller, 'account:write');
    const { db, clock, accounts } = this.#options;
    const nowMs = clock.nowMs();
    const name = keyName({ name: input.name, label: NAME_LABEL, nowMs });
    const expiresAtMs = expiryMs(input.expiresInSeconds, nowMs);
    return available(async () => {
      checkMayCreate(await accounts.get(caller.teamId));
      return db.tx(async (tx) => {
        if ((await this.#store.lockAndCount(tx, caller.teamId)) >= DETECTION_KEYS_MAX) {
          throw new Problem(
            'conflict',
            `The account has ${DETECTION_KEYS_MAX} Detection keys already: revoke one first.`,
          );
        }
        const of = { teamId: caller.teamId, createdBy: caller.userId, name };
        const { row, apiKey } = await insertKey(this.#options, tx, {
          ...of,
          createdAtMs: nowMs,
          expiresAtMs,
        });
        return { ...viewOf(row), apiKey };
      });
    });
  }

  /** Not revoked, newest first. @throws Problem insufficient-scope */
  async list(caller: Caller): Promise<(DetectionKey & { status: DetectionKeyStatus })[]> {
    requireScope(caller, 'balance:read');
    const { clock, accounts, ledger } = this.#options;
    return available(async () => {
      const account = await accounts.get(caller.teamId);
      const { availableMicros } = await ledger.balance(caller.teamId);
      const isOn = account.detection && !account.suspended && account.features.includes('detection');
      const state = { detectionOn: isOn, hasFunds: availableMicros > 0n };
      const rows = await this.#store.list(caller.teamId);
      return rows.map((row) => ({ ...viewOf(row), status: statusOf(row, state, clock.nowMs()) }));
    });
  }

  /** New sessions are refused from now on; open ones go on. @throws Problem insufficient-scope, validation-error, not-found */
  async revoke(caller: Caller, keyId: string): Promise<{ keyId: string; revoked: true }> {
    requireScope(caller, 'account:write');
    if (!isUuid(keyId)) throw new Problem('validation-error', 'key_id must be a UUID.', { field: 'key_id' });
    const { db, clock } = this.#options;
    return available(async () => {
      const key = { teamId: caller.teamId, keyId, nowMs: clock.nowMs(), channel: DETECTION_KEYS_CHANNEL };
      if (!(await db.tx((tx) => this.#store.revoke(tx, key)))) {
        throw new Problem('not-found', 'There is no such Detection key.');
      }
      return { keyId: keyId.toLowerCase(), revoked: true as const };
    });
  }

  /**
   * An operator's: new sessions of a suspended key are refused until it is let go again.
   * @throws Problem forbidden, not-found, service-unavailable
   */
  async setSuspended(
    caller: Caller,
    of: { teamId: string; keyId: string; suspended: boolean },
  ): Promise<void> {
    requireOperator(caller);
    requireScope(caller, 'account:write');
    const { db } = this.#options;
    await available(async () => {
      const change = { ...of, channel: DETECTION_KEYS_CHANNEL };
      const isKnown =
        isUuid(of.teamId) && isUuid(of.keyId) && (await db.tx((tx) => this.#store.setSuspended(tx, change)));
      if (!isKnown) throw new Problem('not-found', 'There is no such Detection key.');
    });
  }
}

/** Makes a key in `tx`; the caller has judged whether it may. */
export async function insertKey(
  context: { db: Db; cipher: Cipher; ids: Ids },
  tx: Tx,
  of: IssuedFor & { createdAtMs: number; expiresAtMs: number | null },
): Promise<{ row: DetectionKeyRow; apiKey: string }> {
  const apiKey = formatSecret(DETECTION_KEY_PREFIX, context.ids.secret(SECRET_BYTES));
  const keyId = context.ids.uuid();
  const row = { ...of, keyId, keyHint: hintOf(apiKey), suspended: false };
  const keyCiphertext = context.cipher.encrypt(apiKey, detectionKeyContext(keyId));
  await new DetectionKeysStore(context.db).insert(tx, { ...row, keyHash: hashOf(apiKey), keyCiphertext });
  return { row, apiKey };
}

const viewOf = ({ keyId, name, keyHint, createdAtMs, expiresAtMs }: DetectionKeyRow): DetectionKey => ({
  ...{ keyId, name, keyHint, createdAtMs, expiresAtMs },
});
