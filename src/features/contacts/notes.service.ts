import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import type { Ids } from '../../kernel/ids.ts';
import { checkText, requireText } from '../../kernel/text.ts';
import type { Db } from '../../platform/db/index.ts';
import { sanitizeBasicHtml, textOfBasicHtml } from './basic-html.rules.ts';
import { NotesStore } from './notes.store.ts';
import type { NoteRow } from './notes.store.ts';
import type { Surroundings, UserNames } from './surroundings.service.ts';

/** Characters of a note's HTML, and of its text. */
export const NOTE_LENGTH_MAX = 50_000;

export type Note = NoteRow;
/** A note of the list; username is null when its user is gone. */
export type ListedNote = Note & { username: string | null };

/** Notes on a contact: HTML that has been made safe, and what it says. */
export class NotesService {
  readonly #ids: Ids;
  readonly #store: NotesStore;
  readonly #users: UserNames;
  readonly #surroundings: Surroundings;

  constructor(options: { db: Db; ids: Ids; users: UserNames; surroundings: Surroundings }) {
    this.#ids = options.ids;
    this.#users = options.users;
    this.#surroundings = options.surroundings;
    this.#store = new NotesStore(options.db);
  }

  /** `noteText` is made of the note when it is not given. @throws Problem insufficient-scope, validation-error, not-found, conflict */
  async create(
    caller: Caller,
    contactId: string,
    input: { note?: unknown; noteText?: unknown },
  ): Promise<Note> {
    requireScope(caller, 'contacts:write');
    const note = sanitizeBasicHtml(requireText('note', input.note, NOTE_LENGTH_MAX));
    const noteText =
      input.noteText === undefined
        ? textOfBasicHtml(note)
        : checkText('note_text', input.noteText, NOTE_LENGTH_MAX);
    return this.#surroundings.change(caller, contactId, async (tx, change) => {
      await this.#surroundings.requireRoom(tx, change, 'contact_notes');
      const made: Note = {
        ...{ noteId: this.#ids.uuid(), contactId: change.contactId, userId: change.userId },
        ...{ note, noteText, attachments: [], createdAtMs: change.nowMs, createdBy: change.userId },
      };
      await this.#store.insert(tx, { ...made, teamId: change.teamId });
      return made;
    });
  }

  /** All, newest first. @throws Problem insufficient-scope, not-found */
  async list(caller: Caller, contactId: string): Promise<ListedNote[]> {
    requireScope(caller, 'contacts:read');
    await this.#surroundings.requireContact(caller, contactId);
    const notes = await this.#store.list(caller.teamId, contactId);
    const names = await this.#users.names(caller.teamId, [...new Set(notes.map((note) => note.userId))]);
    return notes.map((note) => ({ ...note, username: names.get(note.userId) ?? null }));
  }
}
