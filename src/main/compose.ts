import { OwnAccountService } from '../features/accounts/index.ts';
import {
  DeliveriesLogService,
  SubscriptionPublisher,
  SubscriptionsService,
} from '../features/webhooks/index.ts';
import type { Clock } from '../kernel/clock.ts';
import { systemClock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import { systemIds } from '../kernel/ids.ts';
import { Cipher, openDb } from '../platform/db/index.ts';
import type { Db } from '../platform/db/index.ts';
import { createLimiter } from '../platform/limits/index.ts';
import type { Limiter } from '../platform/limits/index.ts';
import type { Logger } from '../platform/logger/index.ts';
import { createNet } from '../platform/net/index.ts';
import type { Metrics } from '../platform/metrics/index.ts';
import type { Net } from '../platform/net/index.ts';
import { Outbox } from '../platform/outbox/index.ts';
import { createQueue } from '../platform/queue/index.ts';
import type { Queue } from '../platform/queue/index.ts';
import type { Settings } from '../platform/settings/index.ts';
import { composeAccounts } from './compose-accounts.ts';
import type { AccountServices } from './compose-accounts.ts';
import { composeContacts } from './compose-contacts.ts';
import type { ContactServices } from './compose-contacts.ts';
import { composeLookups } from './compose-lookups.ts';
import type { LookupsServices } from './compose-lookups.ts';
import { composeSends } from './compose-sends.ts';
import type { SendServices } from './compose-sends.ts';
import { PublicAddresses } from './public-addresses.ts';

export interface ComposeOptions {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly url: string;
  readonly masterKey: Buffer;
  readonly maxConnections: number;
  readonly applicationName: string;
  /** Wakes the workers; without one (commands) they find new work by their poll. */
  readonly queue?: Queue;
  /** Where the process counts; without it (commands) nothing is counted. */
  readonly metrics?: Metrics;
  /** Replaced in tests. */
  readonly clock?: Clock;
  readonly ids?: Ids;
}

/** The services of one process over one database. */
export interface Services extends AccountServices, ContactServices, LookupsServices, SendServices {
  readonly settings: Settings;
  /** PUBLIC_URL and AUTH_URL with the ports that were found. */
  readonly addresses: PublicAddresses;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly db: Db;
  readonly cipher: Cipher;
  /** The current one, which signs what comes back: addresses for carriers, play plans. */
  readonly masterKey: Buffer;
  readonly outbox: Outbox;
  /** Shared by all processes with REDIS_URL. */
  readonly limiter: Limiter;
  readonly net: Net;
  readonly ownAccount: OwnAccountService;
  /** Its `announce` tells news within the transaction that made them. */
  readonly publisher: SubscriptionPublisher;
  readonly webhooks: SubscriptionsService;
  readonly webhookDeliveries: DeliveriesLogService;
  close(): Promise<void>;
}

/** Plain constructors, nothing started: connections are made when first used. */
export function compose(options: ComposeOptions): Services {
  const { settings, logger, url, maxConnections, applicationName } = options;
  const clock = options.clock ?? systemClock;
  const ids = options.ids ?? systemIds;
  const db = openDb({ url, maxConnections, applicationName, logger });
  const cipher = new Cipher(options.masterKey, [...settings.masterKeyPrevious]);
  const base = { db, cipher, clock, ids };
  const addresses = new PublicAddresses(settings);
  const queue = options.queue ?? createQueue({ logger, clock });
  const outbox = new Outbox(db, queue, clock);
  const limiter = createLimiter({ redisUrl: settings.redisUrl, logger, clock });
  const publisher = new SubscriptionPublisher({ outbox, clock, ids });
  const net = lazyNet(settings, logger);
  const account = composeAccounts({ ...base, outbox, net, addresses });
  const { accounts, ledger, carriers, users } = account;
  const { announce } = publisher;
  const hasCarrier = async (teamId: string): Promise<boolean> =>
    (await carriers.connectedCarrier(teamId)) !== null;
  const kept = composeLookups({
    ...{ settings, ...base, outbox, publicUrl: addresses.publicUrl, accounts, ledger, carriers, net },
  });
  const { lookups } = kept;
  const contacts = composeContacts({
    ...{ db, outbox, clock, ids, announce, accounts, users, brands: lookups.brands },
  });
  const sends = composeSends({
    ...{ ...base, ...account, ...contacts, ...kept, settings, masterKey: options.masterKey, logger },
    ...{ outbox, limiter, net, addresses, announce, metrics: options.metrics },
  });
  return {
    ...base,
    masterKey: options.masterKey,
    settings,
    addresses,
    logger,
    outbox,
    limiter,
    net,
    ...account,
    ...contacts,
    ...kept,
    ...sends,
    ownAccount: new OwnAccountService({
      ...{ accounts, ledger },
      setup: async (teamId) => ({
        ...(await lookups.lines.countSetup(teamId)),
        hasCarrier: await hasCarrier(teamId),
      }),
    }),
    publisher,
    webhooks: new SubscriptionsService({ ...base, net }),
    webhookDeliveries: new DeliveriesLogService({ db, outbox, clock, ids }),
    close: () => closing({ ...account, ...sends, db, net, limiter }),
  };
}

type Closed = Pick<
  Services,
  'keyUsage' | 'credentialReports' | 'carrierConnections' | 'net' | 'limiter' | 'db'
>;

/** What still has to be told is told first; the database goes last. */
async function closing(services: Closed): Promise<void> {
  const { keyUsage, credentialReports, carrierConnections, net, limiter, db } = services;
  try {
    await keyUsage.flush();
    await credentialReports.close();
    await carrierConnections.close();
    await net.close();
    await limiter.close();
  } finally {
    await db.close();
  }
}

/** Opened when first used: it warns of allowed private targets, which commands that reach for nothing need not hear. */
function lazyNet({ allowPrivateTargets }: Settings, logger: Logger): Net {
  let opened: Net | undefined;
  const open = (): Net => (opened ??= createNet({ allowPrivateTargets, logger }));
  return {
    checkUrl: (url) => open().checkUrl(url),
    checkUrlSyntax: (url) => open().checkUrlSyntax(url),
    post: (request) => open().post(request),
    get: (request) => open().get(request),
    close: async () => opened?.close(),
  };
}
