import type { News } from '../../platform/outbox/index.ts';
import type { NewTimelineEntry } from '../contacts/index.ts';
import type { TextMessage } from './texts.store.ts';

const parties = ({ direction, phoneNumber, ownNumber }: TextMessage) =>
  direction === 'inbound' ? { from: phoneNumber, to: ownNumber } : { from: ownNumber, to: phoneNumber };

/** A text of a thread (supplement 13, Sends). An outbound one's id is its send's. */
export const presentText = (text: TextMessage) => ({
  message_id: text.messageId,
  contact_id: text.contactId,
  direction: text.direction,
  ...parties(text),
  body: text.body,
  media_urls: [...text.mediaUrls],
  phone_line_id: text.phoneLineId,
  created_by: text.createdBy,
  created_at: text.createdAtMs,
});

type OfContact = TextMessage & { readonly contactId: string };

/** The timeline's entry of type `sms` (contract, Resources, Timeline entry). */
export const receivedEntry = (text: OfContact, teamId: string): NewTimelineEntry => ({
  ...{ teamId, contactId: text.contactId, type: 'sms', atMs: text.createdAtMs },
  data: {
    ...{ message_id: text.messageId, direction: text.direction, ...parties(text) },
    ...{ body: text.body, media_urls: [...text.mediaUrls] },
  },
});

export const receivedNews = (text: OfContact, teamId: string): News => ({
  ...{ teamId, event: 'contact.msg.received', atMs: text.createdAtMs },
  data: {
    ...{ team_id: teamId, contact_id: text.contactId, message_id: text.messageId },
    ...{ ...parties(text), body: text.body, media_urls: [...text.mediaUrls] },
  },
});

export const sentNews = (
  text: { messageId: string; contactId: string; phoneNumber: string; ownNumber: string | null },
  teamId: string,
  atMs: number,
): News => ({
  ...{ teamId, event: 'contact.msg.sent', atMs },
  data: {
    ...{ team_id: teamId, contact_id: text.contactId, message_id: text.messageId },
    ...{ to: text.phoneNumber, from: text.ownNumber },
  },
});

export const optNews = (text: OfContact, teamId: string, isOptedIn: boolean): News => ({
  ...{ teamId, event: 'contact.msg.opt', atMs: text.createdAtMs },
  data: {
    ...{ team_id: teamId, contact_id: text.contactId, phone_number: text.phoneNumber },
    opted_in: isOptedIn,
  },
});
