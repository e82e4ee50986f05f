import type { Clock } from '../../kernel/clock.ts';
import type { Ids } from '../../kernel/ids.ts';
import type { Cipher, Db } from '../../platform/db/index.ts';
import type { RouteSpec } from '../../platform/http/index.ts';
import type { Logger } from '../../platform/logger/index.ts';
import type { Announce, Outbox } from '../../platform/outbox/index.ts';
import type { AccountGates, AccountsService, LedgerService, UsersService } from '../accounts/index.ts';
import type { OpenCarrier } from '../carriers/index.ts';
import type { ContactsService, ImportService, TimelineService } from '../contacts/index.ts';
import type { DialingRules } from '../delivery-rules/index.ts';
import type { DncService } from '../dnc/index.ts';
import { EmailDelivery } from './delivery.service.ts';
import { EmailGates } from './email-gates.service.ts';
import { sendingRoutes } from './email.routes.ts';
import { EmailService } from './email.service.ts';
import { EmailEvents } from './email-events.service.ts';
import { EmailHistory } from './history.service.ts';
import { hooksRoutes } from './hooks.routes.ts';
import { MailHooks } from './hooks.service.ts';
import { InboundMail } from './inbound.service.ts';
import { PartiesService } from './parties.service.ts';
import { publicRoutes } from './public.routes.ts';
import { EmailResults } from './results.service.ts';
import { TrackedAddresses } from './tracked-addresses.ts';
import { UnsubscribeService } from './unsubscribe.service.ts';

export interface EmailOptions {
  readonly db: Db;
  readonly cipher: Cipher;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly outbox: Outbox;
  readonly announce: Announce;
  readonly publicUrl: () => string;
  readonly gates: Pick<AccountGates, 'requireFeature' | 'requirePaid'>;
  readonly accounts: Pick<AccountsService, 'get'>;
  readonly users: Pick<UsersService, 'findSignedIn'>;
  readonly ledger: Pick<LedgerService, 'book'>;
  readonly contacts: Pick<ContactsService, 'byIds' | 'search'>;
  readonly contactImport: Pick<ImportService, 'create'>;
  readonly timeline: Pick<TimelineService, 'add'>;
  readonly dnc: Pick<DncService, 'selfAdd'>;
  readonly rules: { of(teamId: string): Promise<DialingRules> };
  /** The account's mail connection, else the simulator. */
  readonly openMail: (teamId: string) => Promise<OpenCarrier<'mail'>>;
}

/** Single emails, and what becomes of them. */
export interface EmailServices {
  readonly email: EmailService;
  readonly history: EmailHistory;
  readonly events: EmailEvents;
  readonly results: EmailResults;
  readonly addresses: TrackedAddresses;
  readonly unsubscribe: UnsubscribeService;
  readonly hooks: MailHooks;
  readonly inbound: InboundMail;
}

export function createEmail(options: EmailOptions): EmailServices {
  const addresses = new TrackedAddresses(options);
  const events = new EmailEvents(options);
  const shared = { ...options, addresses, events };
  const results = new EmailResults(shared);
  return {
    ...{ addresses, events, results },
    email: new EmailService({
      ...options,
      gates: new EmailGates(options),
      parties: new PartiesService(options),
      delivery: new EmailDelivery({ ...shared, results }),
    }),
    history: new EmailHistory(options),
    unsubscribe: new UnsubscribeService(options),
    hooks: new MailHooks(shared),
    inbound: new InboundMail(shared),
  };
}

export const emailRoutes = (of: EmailServices): RouteSpec[] => [
  ...sendingRoutes(of),
  ...publicRoutes(of),
  ...hooksRoutes(of),
];
