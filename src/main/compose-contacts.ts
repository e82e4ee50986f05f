import type { AccountsService, UsersService } from '../features/accounts/index.ts';
import {
  ContactsService,
  createAroundContacts,
  DncMarksService,
  FieldsService,
  ImportService,
  ListsService,
} from '../features/contacts/index.ts';
import type { AroundContacts } from '../features/contacts/index.ts';
import { DncService } from '../features/dnc/index.ts';
import type { Lookups } from '../features/lookups/index.ts';
import { TagsService } from '../features/tags/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Db } from '../platform/db/index.ts';
import type { Announce, Outbox } from '../platform/outbox/index.ts';

export interface ContactsParts {
  readonly db: Db;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly announce: Announce;
  readonly accounts: Pick<AccountsService, 'get'>;
  readonly users: Pick<UsersService, 'names'>;
  readonly brands: Pick<Lookups['brands'], 'exists'>;
}

/** Contacts, what surrounds them, and the do-not-contact list. */
export interface ContactServices extends AroundContacts {
  readonly contacts: ContactsService;
  readonly contactImport: ImportService;
  readonly lists: ListsService;
  readonly fields: FieldsService;
  readonly tags: TagsService;
  readonly dnc: DncService;
}

export function composeContacts(parts: ContactsParts): ContactServices {
  const { accounts, brands } = parts;
  const tags = new TagsService(parts);
  const hasBrand = (teamId: string, brandId: string): Promise<boolean> => brands.exists(teamId, brandId);
  const dnc = new DncService({ ...parts, marks: new DncMarksService(parts), hasBrand });
  const writer = {
    ...parts,
    isListed: dnc.isListed.bind(dnc),
    regionOf: async (teamId: string) => (await accounts.get(teamId)).region,
  };
  return {
    ...createAroundContacts({ ...parts, tags }),
    contacts: new ContactsService(writer),
    contactImport: new ImportService(writer),
    lists: new ListsService(parts),
    fields: new FieldsService(parts),
    tags,
    dnc,
  };
}
