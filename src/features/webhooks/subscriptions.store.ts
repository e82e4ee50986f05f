import type { Db, Tx } from '../../platform/db/index.ts';
import type { EndpointState, EndpointStatus } from './endpoint.rules.ts';

export interface SubscriptionRow {
  subscriptionId: string;
  teamId: string;
  name: string;
  hookUrl: string;
  eventTypes: string[];
  status: EndpointStatus;
  pausedUntilMs: number | null;
  secretCreatedAtMs: number;
  createdAtMs: number;
  updatedAtMs: number;
}

export interface NewSubscription {
  subscriptionId: string;
  teamId: string;
  name: string;
  hookUrl: string;
  eventTypes: readonly string[];
  secretCiphertext: string;
  createdBy: string;
  createdAtMs: number;
}

/** What may change of a subscription; what is undefined stays. */
export interface SubscriptionChange {
  name?: string | undefined;
  /** Its endpoint counts as mended: active, no failures. */
  hookUrl?: string | undefined;
  eventTypes?: string[] | undefined;
  secretCiphertext?: string | undefined;
  nowMs: number;
}

interface Key {
  readonly teamId: string;
  readonly subscriptionId: string;
}

/** Administration of webhook_subscriptions: Prisma, and SQL where a lock belongs to it. */
export class SubscriptionsStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Newest first; the limit of an account bounds it. */
  async list(teamId: string): Promise<SubscriptionRow[]> {
    const rows = await this.#db.prisma.webhookSubscription.findMany({
      where: { teamId },
      orderBy: [{ createdAt: 'desc' }, { id: 'asc' }],
    });
    return rows.map(rowOf);
  }

  async find({
    teamId,
    subscriptionId,
  }: Key): Promise<(SubscriptionRow & { secretCiphertext: string }) | null> {
    const row = await this.#db.prisma.webhookSubscription.findFirst({
      where: { teamId, id: subscriptionId },
    });
    return row && { ...rowOf(row), secretCiphertext: row.secretCiphertext };
  }

  /** Holds the account's row, so that two creations cannot both take the last place; how many there are. */
  async lockAndCount(tx: Tx, teamId: string): Promise<number> {
    await tx.query('select 1 from teams where id = $1 for no key update', [teamId]);
    const { rows } = await tx.query<{ n: bigint }>(
      'select count(*) as n from webhook_subscriptions where team_id = $1',
      [teamId],
    );
    return Number(rows[0]?.n ?? 0);
  }

  async insert(tx: Tx, row: NewSubscription): Promise<void> {
    const at = new Date(row.createdAtMs);
    await tx.query(
      `insert into webhook_subscriptions
         (id, team_id, name, hook_url, event_types, secret_ciphertext, secret_created_at, created_by, created_at, updated_at)
       values ($1, $2, $3, $4, $5, $6, $8, $7, $8, $8)`,
      [
        ...[row.subscriptionId, row.teamId, row.name, row.hookUrl, row.eventTypes],
        ...[row.secretCiphertext, row.createdBy, at],
      ],
    );
  }

  /** Null: no such subscription. */
  async update({ teamId, subscriptionId }: Key, change: SubscriptionChange): Promise<SubscriptionRow | null> {
    const { name, hookUrl, eventTypes, secretCiphertext } = change;
    const at = new Date(change.nowMs);
    const [row] = await this.#db.prisma.webhookSubscription.updateManyAndReturn({
      where: { teamId, id: subscriptionId },
      data: {
        ...(name === undefined ? {} : { name }),
        ...(eventTypes === undefined ? {} : { eventTypes }),
        ...(secretCiphertext === undefined ? {} : { secretCiphertext, secretCreatedAt: at }),
        ...(hookUrl === undefined
          ? {}
          : { hookUrl, status: 'active', failures: 0, pausedUntil: null, probeId: null }),
        updatedAt: at,
      },
    });
    return row ? rowOf(row) : null;
  }

  /** False: no such subscription. Its deliveries end when they are next due, and stay until they are old. */
  async remove({ teamId, subscriptionId }: Key): Promise<boolean> {
    const { count } = await this.#db.prisma.webhookSubscription.deleteMany({
      where: { teamId, id: subscriptionId },
    });
    return count === 1;
  }
}

function rowOf(row: {
  id: string;
  teamId: string;
  name: string;
  hookUrl: string;
  eventTypes: string[];
  status: string;
  pausedUntil: Date | null;
  secretCreatedAt: Date;
  createdAt: Date;
  updatedAt: Date;
}): SubscriptionRow {
  const { teamId, name, hookUrl, eventTypes } = row;
  return {
    ...{ subscriptionId: row.id, teamId, name, hookUrl, eventTypes },
    status: row.status as EndpointStatus,
    pausedUntilMs: row.pausedUntil?.getTime() ?? null,
    secretCreatedAtMs: row.secretCreatedAt.getTime(),
    createdAtMs: row.createdAt.getTime(),
    updatedAtMs: row.updatedAt.getTime(),
  };
}

interface StoredEndpoint {
  status: EndpointStatus;
  failures: number;
  paused_until: Date | null;
  probe_id: string | null;
  [column: string]: unknown;
}

const ENDPOINT_COLUMNS = 'status, failures, paused_until, probe_id';
const ENDPOINT_OF = 'from webhook_subscriptions where team_id = $1 and id = $2';

/** Takes the place of the probe, once the pause is over and unless another delivery has it. */
const CLAIM_PROBE_SQL = `
update webhook_subscriptions set probe_id = $3
where team_id = $1 and id = $2 and status = 'paused' and paused_until <= $4 and (probe_id is null or probe_id = $3)`;

const WRITE_ENDPOINT_SQL = `
update webhook_subscriptions set status = $3, failures = $4, paused_until = $5, probe_id = $6
where team_id = $1 and id = $2`;

/** What deliveries read and write of a subscription. */
export class EndpointsStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async find(key: Key): Promise<{ hookUrl: string; secretCiphertext: string; state: EndpointState } | null> {
    const { rows } = await this.#db.query<StoredEndpoint & { hook_url: string; secret_ciphertext: string }>(
      `select hook_url, secret_ciphertext, ${ENDPOINT_COLUMNS} ${ENDPOINT_OF}`,
      [key.teamId, key.subscriptionId],
    );
    const row = rows[0];
    return row
      ? { hookUrl: row.hook_url, secretCiphertext: row.secret_ciphertext, state: stateOf(row) }
      : null;
  }

  /** False: another delivery is the probe, or the pause is not as it was read. */
  async claimProbe(key: Key, deliveryId: string, nowMs: number): Promise<boolean> {
    const { rowCount } = await this.#db.query(CLAIM_PROBE_SQL, [
      ...[key.teamId, key.subscriptionId, deliveryId],
      new Date(nowMs),
    ]);
    return rowCount === 1;
  }

  /** Null: the subscription is gone. `isLocked` keeps others from changing it until the transaction ends. */
  async read(tx: Tx, key: Key, options: { isLocked: boolean }): Promise<EndpointState | null> {
    const { rows } = await tx.query<StoredEndpoint>(
      `select ${ENDPOINT_COLUMNS} ${ENDPOINT_OF}${options.isLocked ? ' for no key update' : ''}`,
      [key.teamId, key.subscriptionId],
    );
    return rows[0] ? stateOf(rows[0]) : null;
  }

  async write(tx: Tx, key: Key, state: EndpointState): Promise<void> {
    await tx.query(WRITE_ENDPOINT_SQL, [
      ...[key.teamId, key.subscriptionId, state.status, state.failures],
      state.pausedUntilMs === null ? null : new Date(state.pausedUntilMs),
      state.probeId,
    ]);
  }
}

const stateOf = (row: StoredEndpoint): EndpointState => ({
  status: row.status,
  failures: row.failures,
  pausedUntilMs: row.paused_until?.getTime() ?? null,
  probeId: row.probe_id,
});
