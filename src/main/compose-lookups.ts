import { join } from 'node:path';
import type { AccountsService, LedgerService } from '../features/accounts/index.ts';
import type { CarriersService } from '../features/carriers/index.ts';
import { parsePhone } from '../features/contacts/index.ts';
import { createLookups } from '../features/lookups/index.ts';
import type { Lookups } from '../features/lookups/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import { AudioConverter, EspeakEngine } from '../platform/audio/index.ts';
import type { SpeechEngine } from '../platform/audio/index.ts';
import type { Cipher, Db } from '../platform/db/index.ts';
import { createResolver } from '../platform/dns/index.ts';
import type { Net } from '../platform/net/index.ts';
import type { Outbox } from '../platform/outbox/index.ts';
import type { Settings } from '../platform/settings/index.ts';
import { FileStorage } from '../platform/storage/index.ts';

export interface LookupsParts {
  readonly settings: Pick<Settings, 'dataDir' | 'dnsServers'>;
  readonly db: Db;
  readonly cipher: Cipher;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly outbox: Outbox;
  readonly publicUrl: () => string;
  readonly accounts: Pick<AccountsService, 'get'>;
  readonly ledger: Pick<LedgerService, 'capture'>;
  readonly carriers: Pick<CarriersService, 'connectedCarrier'>;
  readonly net: Pick<Net, 'get'>;
  /** Replaced in tests; otherwise espeak-ng where it is installed. */
  readonly engine?: SpeechEngine;
}

/** Folders of files under DATA_DIR/media: those that are kept, and those on their way in. */
export interface FileStores {
  readonly kept: FileStorage;
  readonly incoming: FileStorage;
}

export interface LookupsServices {
  readonly lookups: Lookups;
  readonly files: FileStores;
}

export function composeLookups(parts: LookupsParts): LookupsServices {
  const { settings, db, cipher, clock, ids, outbox, publicUrl, accounts, ledger, carriers, net } = parts;
  const folder = join(settings.dataDir, 'media');
  const files = {
    kept: new FileStorage(join(folder, 'kept')),
    incoming: new FileStorage(join(folder, 'incoming')),
  };
  const lookups = createLookups({
    ...{ db, cipher, clock, ids, outbox, publicUrl, ledger, net },
    ...{ storage: files.kept, incoming: files.incoming, converter: new AudioConverter() },
    engine: parts.engine ?? new EspeakEngine({ clock }),
    resolver: createResolver({ servers: settings.dnsServers }),
    hasCarrier: async (teamId) => (await carriers.connectedCarrier(teamId)) !== null,
    readNumber: (text, region) => parsePhone(text, region)?.number ?? null,
    regionOf: async (teamId) => (await accounts.get(teamId)).region,
  });
  return { lookups, files };
}
