import type { ContactList } from './lists.rules.ts';

/** A contact list (supplement 5). */
export const presentList = (list: ContactList) => ({
  list_id: list.listId,
  list_name: list.name,
  created_at: list.createdAtMs,
  contact_count: list.contactCount,
});
