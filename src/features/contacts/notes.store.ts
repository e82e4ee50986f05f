import type { Db, Tx } from '../../platform/db/index.ts';

export interface NoteRow {
  noteId: string;
  contactId: string;
  userId: string;
  /** Sanitised HTML. */
  note: string;
  noteText: string;
  attachments: unknown[];
  createdAtMs: number;
  createdBy: string;
}

/** The statements on contact_notes. */
export class NotesStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async insert(tx: Tx, note: NoteRow & { teamId: string }): Promise<void> {
    await tx.query(
      `insert into contact_notes (id, team_id, contact_id, user_id, note, note_text, attachments, created_by, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
      [
        ...[note.noteId, note.teamId, note.contactId, note.userId, note.note, note.noteText],
        ...[JSON.stringify(note.attachments), note.createdBy, new Date(note.createdAtMs)],
      ],
    );
  }

  /** Newest first; how many a contact has is bounded where they are made. */
  async list(teamId: string, contactId: string): Promise<NoteRow[]> {
    const { rows } = await this.#db.query<StoredNote>(
      `select id, contact_id, user_id, note, note_text, attachments, created_by, created_at
       from contact_notes where team_id = $1 and contact_id = $2 order by created_at desc, id`,
      [teamId, contactId],
    );
    return rows.map((row) => ({
      ...{ noteId: row.id, contactId: row.contact_id, userId: row.user_id, note: row.note },
      ...{ noteText: row.note_text, attachments: row.attachments, createdBy: row.created_by },
      createdAtMs: row.created_at.getTime(),
    }));
  }
}

interface StoredNote {
  id: string;
  contact_id: string;
  user_id: string;
  note: string;
  note_text: string;
  attachments: unknown[];
  created_by: string;
  created_at: Date;
}
