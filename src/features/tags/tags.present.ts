import type { Tag } from './tags.service.ts';

/** A tag as the list shows it (contract, Resources, Tag). */
export const presentTag = (tag: Tag) => ({
  tag_id: tag.tagId,
  label: tag.label,
  color: tag.color,
  text_color: tag.textColor,
  created_at: tag.createdAtMs,
  updated_at: tag.updatedAtMs,
  created_by: tag.createdBy,
  updated_by: tag.updatedBy,
});

/** The create response has three fields more. */
export const presentNewTag = (tag: Tag) => ({
  ...presentTag(tag),
  is_seed: tag.isSeed,
  deleted_at: tag.deletedAtMs,
  deleted_by: tag.deletedBy,
});

/** The update response names the id `id`, and its time is ISO 8601. */
export const presentChangedTag = (tag: Tag) => ({
  id: tag.tagId,
  label: tag.label,
  color: tag.color,
  text_color: tag.textColor,
  updated_at: new Date(tag.updatedAtMs).toISOString(),
});
