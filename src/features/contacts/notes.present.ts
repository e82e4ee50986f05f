import type { ListedNote, Note } from './notes.service.ts';

/** A note (contract, Resources, Contact note). */
export const presentNote = (note: Note) => ({
  note_id: note.noteId,
  contact_id: note.contactId,
  user_id: note.userId,
  type: 'contact' as const,
  note: note.note,
  note_text: note.noteText,
  attachments: note.attachments,
  created_at: note.createdAtMs,
  created_by: note.createdBy,
});

export const presentListedNote = (note: ListedNote) => ({ ...presentNote(note), username: note.username });
