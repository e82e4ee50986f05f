import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import { pageOf, timeKeyOf } from '../../kernel/keyset.ts';
import type { Keyset, KeysetPage } from '../../kernel/keyset.ts';
import type { Db } from '../../platform/db/index.ts';
import { AroundQueryStore } from './around.query.store.ts';
import type { AroundName, AroundRow } from './around.query.store.ts';
import type { Consent } from './consent.service.ts';
import type { FollowUp } from './follow-ups.service.ts';
import type { TimelineEntry } from './timeline.service.ts';

/** A row with what its list is sorted by. */
export type Keyed<T> = T & { readonly teamId: string; readonly key: readonly string[] };

export interface NoteView {
  readonly noteId: string;
  readonly contactId: string;
  readonly userId: string;
  readonly note: string;
  readonly noteText: string;
  readonly pinned: boolean;
  readonly createdBy: string;
  readonly createdAtMs: number;
}

/** A tag on a contact. */
export interface ContactTagView {
  readonly tagId: string;
  readonly label: string;
  readonly color: string | null;
  readonly textColor: string | null;
  readonly taggedAtMs: number;
  readonly taggedBy: string;
}

export interface AroundViews {
  notes: NoteView;
  timeline: TimelineEntry;
  followUps: FollowUp;
  consents: Consent;
}

/** What surrounds contacts, read for many of them at once; rules and changes are those of the services of each. */
export class AroundQueryService {
  readonly #store: AroundQueryStore;

  constructor(options: { db: Db }) {
    this.#store = new AroundQueryStore(options.db);
  }

  /** A page for each contact: notes, timeline and consents newest first, follow-ups soonest. @throws Problem insufficient-scope, validation-error */
  async pages<N extends AroundName>(
    caller: Caller,
    name: N,
    of: { contactIds: readonly string[]; keyset: Keyset },
  ): Promise<Map<string, KeysetPage<Keyed<AroundViews[N]>>>> {
    requireAround(caller, name);
    const { contactIds, keyset } = of;
    const page = { ...timeKeyOf(keyset.after), limit: keyset.first + 1 };
    const rows = await this.#store.page(caller.teamId, name, { contactIds, page });
    const byContact = new Map<string, Keyed<AroundViews[N]>[]>(contactIds.map((id) => [id, []]));
    for (const row of rows) {
      const view = VIEW_OF[name](row);
      byContact.get(row.contact_id)?.push({
        ...view,
        teamId: caller.teamId,
        key: [String(row.at_us), row.id],
      });
    }
    return new Map([...byContact].map(([id, views]) => [id, pageOf(views, keyset.first)]));
  }

  /** @throws Problem insufficient-scope */
  async counts(
    caller: Caller,
    name: AroundName,
    contactIds: readonly string[],
  ): Promise<Map<string, number>> {
    requireAround(caller, name);
    return this.#store.counts(caller.teamId, name, contactIds);
  }

  /** In the order they were added. @throws Problem insufficient-scope */
  async tags(caller: Caller, contactIds: readonly string[]): Promise<Map<string, ContactTagView[]>> {
    requireScope(caller, 'contacts:read');
    const byContact = new Map<string, ContactTagView[]>(contactIds.map((id) => [id, []]));
    for (const row of await this.#store.tags(caller.teamId, contactIds)) {
      byContact.get(row.contact_id)?.push({
        ...{ tagId: row.tag_id, label: row.label, color: row.color, textColor: row.text_color },
        ...{ taggedAtMs: row.tagged_at.getTime(), taggedBy: row.tagged_by },
      });
    }
    return byContact;
  }
}

const requireAround = (caller: Caller, name: AroundName): void =>
  requireScope(caller, name === 'consents' ? 'consent:read' : 'contacts:read');

const ms = (value: unknown): number => (value as Date).getTime();

const VIEW_OF: { [N in AroundName]: (row: AroundRow) => AroundViews[N] } = {
  notes: (row) => ({
    noteId: row.id,
    contactId: row.contact_id,
    userId: row['user_id'] as string,
    note: row['note'] as string,
    noteText: row['note_text'] as string,
    pinned: row['pinned'] as boolean,
    createdBy: row['created_by'] as string,
    createdAtMs: ms(row['created_at']),
  }),
  timeline: (row) => ({
    entryId: row.id,
    contactId: row.contact_id,
    type: row['type'] as string,
    data: row['data'] as Record<string, unknown>,
    createdAtMs: ms(row['created_at']),
  }),
  followUps: (row) => ({
    followupId: row.id,
    contactId: row.contact_id,
    scheduledAtMs: ms(row['scheduled_at']),
    status: row['status'] as FollowUp['status'],
    description: row['description'] as string,
    descriptionText: row['description_text'] as string,
    assignedTo: row['assigned_to'] as string,
    assignedType: row['assigned_type'] as FollowUp['assignedType'],
    taskId: row['task_id'] as string | null,
    createdBy: row['created_by'] as string,
    createdAtMs: ms(row['created_at']),
  }),
  consents: (row) => ({
    consentId: row.id,
    contactId: row.contact_id,
    consentType: row['consent_type'] as Consent['consentType'],
    phoneNumber: row['phone_number'] as string,
    consentText: row['consent_text'] as string,
    consentTextHash: row['consent_text_hash'] as string,
    consentMethod: row['consent_method'] as Consent['consentMethod'],
    grantedBy: row['granted_by'] as string,
    grantedAtMs: ms(row['granted_at']),
    revokedBy: row['revoked_by'] as string | null,
    revokedAtMs: row['revoked_at'] === null ? null : ms(row['revoked_at']),
  }),
};
