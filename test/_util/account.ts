import { randomBytes } from 'node:crypto';
import { SCOPES } from '../../src/kernel/caller.ts';
import type { Caller, Scope } from '../../src/kernel/caller.ts';
import { ManualClock } from '../../src/kernel/clock.ts';
import { compose } from '../../src/main/compose.ts';
import type { Services } from '../../src/main/compose.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import { loadSettings } from '../../src/platform/settings/index.ts';

const MICROS_PER_UNIT = 1_000_000;

/** A caller as an API key of an account makes it. */
export const callerOf = (
  of: { teamId: string; ownerId?: string; userId?: string },
  scopes: readonly Scope[] = SCOPES,
): Caller => ({
  kind: 'api_key',
  teamId: of.teamId,
  userId: of.userId ?? of.ownerId ?? '',
  scopes: new Set(scopes),
  operator: false,
  role: null,
  credentialId: 'test',
});

export interface NewTestAccount {
  readonly name?: string;
  /** Of its key; omitted: all. */
  readonly scopes?: readonly Scope[];
  /** Units of the currency; omitted: 100. */
  readonly funds?: number;
  readonly verified?: boolean;
  readonly operator?: boolean;
}

/** An account with its first API key; `caller` acts as that key. */
export interface TestAccount {
  readonly teamId: string;
  readonly ownerId: string;
  readonly caller: Caller;
  readonly key: string;
  readonly secret: string;
  readonly detectionKey: string;
}

/** A fresh account of its own, with funds. */
export async function makeAccount(services: Services, of: NewTestAccount = {}): Promise<TestAccount> {
  const { scopes, verified, operator } = of;
  const created = await services.accounts.create({
    name: of.name ?? 'Example Ltd',
    fundsMicros: BigInt(Math.round((of.funds ?? 100) * MICROS_PER_UNIT)),
    ...(scopes ? { scopes } : {}),
    ...(verified === undefined ? {} : { verified }),
    ...(operator === undefined ? {} : { operator }),
  });
  const { teamId, ownerId, apiKey, detectionKey } = created;
  const caller = { ...callerOf({ teamId, ownerId }, scopes), operator: operator ?? false };
  return { teamId, ownerId, ...apiKey, detectionKey, caller };
}

/** The services over one database, with a clock that moves when told to. */
export class AccountsWorld {
  readonly clock = new ManualClock(Date.parse('2026-03-01T12:00:00Z'));
  readonly services: Services;

  /** `env`: settings over the defaults. */
  constructor(at: { url: string }, env: Record<string, string> = {}) {
    this.services = compose({
      ...{ settings: loadSettings(env), logger: silentLogger, url: at.url, masterKey: randomBytes(32) },
      ...{ maxConnections: 10, applicationName: 'tonegate-test-accounts', clock: this.clock },
    });
  }

  /** An account with 100.00 of funds unless told otherwise, and its first key as caller. */
  account(of?: NewTestAccount): Promise<TestAccount> {
    return makeAccount(this.services, of);
  }

  /** Takes all its funds. */
  async spend(teamId: string): Promise<void> {
    const { ledger, db, ids } = this.services;
    const { balanceMicros: amountMicros } = await ledger.balance(teamId);
    const charge = { teamId, amountMicros, causeType: 'session', causeId: ids.uuid() };
    await db.tx((tx) => ledger.capture(tx, [charge]));
  }

  /** Notifications on detection_keys from now on. */
  async announcements(): Promise<string[]> {
    const heard: string[] = [];
    await this.services.db.listen('detection_keys', (payload) => heard.push(payload));
    return heard;
  }

  close(): Promise<void> {
    return this.services.close();
  }
}
