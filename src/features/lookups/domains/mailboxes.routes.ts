import { Type } from '@sinclair/typebox';
import { route } from '../../../platform/http/index.ts';
import type { RouteSpec } from '../../../platform/http/index.ts';
import type { MailboxesService } from './mailboxes.service.ts';
import type { Mailbox } from './mailboxes.store.ts';

const MailboxData = Type.Object({
  mailbox_id: Type.String(),
  title: Type.String(),
  address: Type.String(),
  domain: Type.String(),
  display_name: Type.String(),
  is_personal: Type.Boolean(),
});

/** The mailbox of the contract (Resources, Mailbox). */
export const presentMailbox = (mailbox: Mailbox) => ({
  mailbox_id: mailbox.mailboxId,
  title: mailbox.title,
  address: mailbox.address,
  domain: mailbox.domain,
  display_name: mailbox.displayName,
  is_personal: mailbox.isPersonal,
});

export const mailboxesRoutes = ({ mailboxes }: { mailboxes: MailboxesService }): RouteSpec[] => [
  route({
    ...{ method: 'GET', path: '/domain/public/mailboxes', operationId: 'listMailboxes', tag: 'Mailboxes' },
    summary: 'All mailboxes that emails can be sent from',
    scopes: ['email:read'],
    data: Type.Object({ mailboxes: Type.Array(MailboxData) }),
    handler: async ({ caller }) => ({ mailboxes: (await mailboxes.list(caller)).map(presentMailbox) }),
  }),
];
