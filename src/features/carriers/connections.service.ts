import type { Clock } from '../../kernel/clock.ts';
import { isUuid } from '../../kernel/ids.ts';
import type { Ids } from '../../kernel/ids.ts';
import type { Cipher, Db } from '../../platform/db/index.ts';
import type { Limiter } from '../../platform/limits/index.ts';
import type { Logger } from '../../platform/logger/index.ts';
import type { Net } from '../../platform/net/index.ts';
import { settingsOf } from './carriers.rules.ts';
import type { CarrierKind, CarrierSettings } from './carriers.rules.ts';
import { carrierContext } from './carriers.service.ts';
import { CarriersStore } from './carriers.store.ts';
import type { CarrierRow } from './carriers.store.ts';
import { Connection } from './connection.ts';
import { connectionFor } from './connections.rules.ts';
import type { CarrierRequests, Driver } from './driver.type.ts';
import type {
  CallCarrier,
  CarrierAnswer,
  CarrierWork,
  DropCarrier,
  MailCarrier,
  CarrierWait,
  OpenCarrier,
  TextCarrier,
} from './port.type.ts';
import { SimulatorDriver } from './simulator.driver.ts';
import { SmppDriver } from './smpp.driver.ts';
import { SmtpDriver } from './smtp.driver.ts';
import { statusPath } from './status-token.rules.ts';
import type { StatusOf } from './status-token.rules.ts';
import { TwilioDriver } from './twilio.driver.ts';

/** A connection that was paused, or given other settings, is known as such after this time. */
const ROWS_LIVE_MS = 250;
/** Accounts whose connections are remembered, and connections that are kept open. */
const TEAMS_MAX = 10_000;
const CONNECTIONS_MAX = 5_000;
/** When work for a connection that rests is looked at again. */
const RESTING_RETRY_MS = 60_000;

export interface ConnectionsOptions {
  readonly db: Db;
  readonly cipher: Cipher;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly limiter: Limiter;
  readonly net: Pick<Net, 'post'>;
  /** The current MASTER_KEY: signs what carriers carry back. */
  readonly masterKey: Buffer;
  readonly publicUrl: () => string;
  readonly allowPrivateTargets: boolean;
  /** Replaced in tests. */
  readonly driverOf?: (kind: CarrierKind, settings: CarrierSettings) => Driver;
}

interface Kept {
  /** As stored: other settings have another text, whatever the clock says. */
  readonly settingsCiphertext: string;
  readonly connection: Connection;
}

type Port = TextCarrier & CallCarrier & DropCarrier & MailCarrier;

/**
 * What an account's sends go out through. A connection, with its rate, breaker and counts, lives in one process; processes
 * share the rate where the limiter is shared, and tell of the rest by `report`.
 */
export class CarrierConnections {
  readonly #options: ConnectionsOptions;
  readonly #store: CarriersStore;
  readonly #processId: string;
  readonly #builtIn: Connection;
  /** In the order they were read. */
  readonly #rows = new Map<string, { rows: Promise<CarrierRow[]>; readAtMs: number }>();
  /** In the order of their last use. */
  readonly #kept = new Map<string, Kept>();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#store = new CarriersStore(options.db);
    this.#processId = options.ids.uuid();
    const driver = this.#driverOf('simulator', settingsOf('simulator', {}), 'built-in');
    this.#builtIn = new Connection({ ...options, carrierId: 'built-in', teamId: '', driver });
  }

  /** The account's connection that does this work, paused ones included: these answer `retry`. */
  async open<W extends CarrierWork>(teamId: string, work: W): Promise<OpenCarrier<W>> {
    const row = connectionFor(await this.#rowsOf(teamId), work);
    if (!row) return this.simulator();
    const { carrierId, kind, ratePerSecond } = row;
    let hasTurn = false;
    const turn = async (): Promise<CarrierWait | null> => {
      const wait = restOf(row) ?? (await this.#connectionOf(row).turn(ratePerSecond));
      hasTurn = wait === null;
      return wait;
    };
    const send: Send = async (what, request, signal) => {
      const wait = hasTurn ? null : await turn();
      hasTurn = false;
      return wait ? { kind: 'retry', ...wait } : this.#connectionOf(row).send(what, request, signal);
    };
    return { carrierId, kind, port: portOf(send), turn };
  }

  /** The built-in simulator, whatever the account has. */
  simulator<W extends CarrierWork>(): OpenCarrier<W> {
    return { carrierId: null, kind: 'simulator', port: portOf(this.#simulate) };
  }

  /** Where a carrier reports the fate of an attempt. */
  statusUrlOf(of: StatusOf): string {
    const { publicUrl, masterKey } = this.#options;
    return publicUrl() + statusPath(of, masterKey);
  }

  /** A connection by its id, for what its carrier sends here; null: there is none of that kind. */
  async find<K extends CarrierKind>(
    carrierId: string,
    kind: K,
  ): Promise<{ teamId: string; settings: CarrierSettings<K> } | null> {
    const row = isUuid(carrierId) ? await this.#store.findNamed(carrierId) : null;
    if (row?.kind !== kind) return null;
    return { teamId: row.teamId, settings: this.#settingsOf(row) };
  }

  /** Writes how the connections of this process fare, for the admin to show; due every few seconds. */
  async report(): Promise<void> {
    const rows = [...this.#kept.values()].map(({ connection }) => connection.view());
    if (rows.length === 0) return;
    const { clock } = this.#options;
    await this.#store.report({ processId: this.#processId, nowMs: clock.nowMs() }, rows);
  }

  /** Closes what is idle; requests on their way end by themselves. */
  async close(): Promise<void> {
    const connections = [...this.#kept.values()].map(({ connection }) => connection);
    this.#kept.clear();
    await Promise.all([...connections, this.#builtIn].map((connection) => connection.close()));
  }

  readonly #simulate: Send = (work, request, signal) => this.#builtIn.send(work, request, signal);

  async #rowsOf(teamId: string): Promise<CarrierRow[]> {
    const nowMs = this.#options.clock.monotonicMs();
    const known = this.#rows.get(teamId);
    if (known && nowMs - known.readAtMs < ROWS_LIVE_MS) return known.rows;
    const rows = this.#store.listForWork(teamId);
    this.#rows.delete(teamId);
    this.#rows.set(teamId, { rows, readAtMs: nowMs });
    forgetOldest(this.#rows, TEAMS_MAX);
    // What could not be read is asked for again by the next.
    rows.catch(() => this.#rows.delete(teamId));
    return rows;
  }

  #connectionOf(row: CarrierRow): Connection {
    const { carrierId, teamId, settingsCiphertext } = row;
    let kept = this.#kept.get(carrierId);
    if (kept?.settingsCiphertext !== settingsCiphertext) {
      if (kept) this.#discard(kept);
      const driver = this.#driverOf(row.kind, this.#settingsOf(row), carrierId);
      const connection = new Connection({ ...this.#options, carrierId, teamId, driver });
      kept = { settingsCiphertext, connection };
    }
    this.#kept.delete(carrierId);
    this.#kept.set(carrierId, kept);
    const oldest = forgetOldest(this.#kept, CONNECTIONS_MAX);
    if (oldest) this.#discard(oldest);
    return kept.connection;
  }

  #discard({ connection }: Kept): void {
    connection
      .close()
      .catch((error: unknown) => this.#options.logger.warn({ err: error }, 'A carrier could not be closed.'));
  }

  #settingsOf({ kind, carrierId, settingsCiphertext }: CarrierRow): CarrierSettings {
    const plain = this.#options.cipher.decrypt(settingsCiphertext, carrierContext(carrierId));
    return settingsOf(kind, JSON.parse(plain));
  }

  #driverOf(kind: CarrierKind, settings: CarrierSettings, name: string): Driver {
    const { net, clock, ids, limiter, allowPrivateTargets } = this.#options;
    const given = this.#options.driverOf?.(kind, settings);
    if (given) return given;
    switch (kind) {
      case 'twilio':
        return new TwilioDriver({ settings: settings as CarrierSettings<'twilio'>, net, clock });
      case 'smtp':
        return new SmtpDriver({ settings: settings as CarrierSettings<'smtp'>, clock, allowPrivateTargets });
      case 'smpp':
        return new SmppDriver();
      case 'simulator':
        return new SimulatorDriver({
          settings: settings as CarrierSettings<'simulator'>,
          ...{ ids, limiter, name },
        });
    }
  }
}

/** Null: the connection does not rest. */
const restOf = ({ state }: CarrierRow): CarrierWait | null =>
  state === 'active' ? null : { afterMs: RESTING_RETRY_MS, detail: `The carrier is ${state}.` };

type Send = <W extends CarrierWork>(
  work: W,
  request: CarrierRequests[W],
  signal: AbortSignal,
) => Promise<CarrierAnswer>;

const portOf = (send: Send): Port => ({
  sendText: (request, signal) => send('text', request, signal),
  placeCall: (request, signal) => send('call', request, signal),
  dropVoicemail: (request, signal) => send('drop', request, signal),
  sendMail: (request, signal) => send('mail', request, signal),
});

/** Removes the first entry of a map that has more than `max`, and gives it. */
function forgetOldest<V>(map: Map<string, V>, max: number): V | null {
  if (map.size <= max) return null;
  const [oldest] = map.entries();
  if (!oldest) return null;
  map.delete(oldest[0]);
  return oldest[1];
}
