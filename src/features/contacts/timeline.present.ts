import type { TimelineEntry } from './timeline.service.ts';

/** An entry with the fields of its type beside its own (contract, Resources, Timeline entry). */
export const presentTimelineEntry = (entry: TimelineEntry) => ({
  ...entry.data,
  entry_id: entry.entryId,
  type: entry.type,
  contact_id: entry.contactId,
  created_at: entry.createdAtMs,
});

/** `total` counts the entries of this answer only. */
export const presentTimeline = (entries: readonly TimelineEntry[]) => ({
  entries: entries.map(presentTimelineEntry),
  total: entries.length,
});
