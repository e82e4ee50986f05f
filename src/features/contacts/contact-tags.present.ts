import type { TagEntry } from './contact-tags.service.ts';

/** A tag entry on a contact (contract, Resources, Tag). */
export const presentTagEntry = (entry: TagEntry) => ({
  tag_id: entry.tagId,
  tagged_at: entry.taggedAtMs,
  tagged_by: entry.taggedBy,
  deleted_at: entry.deletedAtMs,
  deleted_by: entry.deletedBy,
});
