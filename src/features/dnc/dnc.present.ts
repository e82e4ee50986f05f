import type { DncMarkCount } from '../contacts/index.ts';
import type { AddedDncEntries, DncEntry, DncMatch, RemovedDncEntries } from './dnc.service.ts';

/** An entry (contract, Resources, Do-not-contact entry). */
export const presentDncEntry = (entry: DncEntry) => ({
  brand_id: entry.brandId,
  phone_number: entry.phoneNumber,
  email: entry.email,
  method: entry.method,
  reason: entry.reason,
  self_added: entry.selfAdded,
  created_at: entry.createdAtMs,
  updated_at: entry.updatedAtMs,
});

/** `phone_numbers` and `emails` are those asked for, `matched` counts those that are listed. */
export const presentDncMatch = (match: DncMatch) => ({
  on_dnc: match.entries.length > 0,
  phone_numbers: match.phoneNumbers,
  emails: match.emails,
  matched: match.matched,
  data: match.entries.map(presentDncEntry),
});

const SUCCESS = { success: true as const };

/** What happened to the contacts with an identifier. */
const updateResult = (count: DncMarkCount) => ({
  acknowledged: true as const,
  matchedCount: count.matched,
  modifiedCount: count.modified,
  upsertedId: null,
  upsertedCount: 0,
});

/** For each identifier its entry and then its contacts; at the end a word on those that were listed before. */
export const presentAdded = ({ results, alreadyListed }: AddedDncEntries) => [
  ...results.flatMap((count) => [SUCCESS, updateResult(count)]),
  ...(alreadyListed === 0
    ? []
    : [{ information_message: `${alreadyListed} already on the do-not-contact list: updated.` }]),
];

export const presentRemoved = (count: DncMarkCount) => [SUCCESS, updateResult(count)];

export const presentBulkRemoved = ({ deleted, skipped }: RemovedDncEntries) => ({
  deleted,
  skipped: skipped.map(({ phoneNumber, email, reason }) => ({ phone_number: phoneNumber, email, reason })),
});
