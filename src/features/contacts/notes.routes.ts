import { Type } from '@sinclair/typebox';
import { route } from '../../platform/http/route.type.ts';
import type { RouteSpec } from '../../platform/http/route.type.ts';
import { ContactParams } from './contacts.schema.ts';
import { presentListedNote, presentNote } from './notes.present.ts';
import { NOTE_LENGTH_MAX } from './notes.service.ts';
import type { NotesService } from './notes.service.ts';

const PATH = '/contact/public/contacts/{contact_id}/notes';
const NOTE_FIELDS = {
  note_id: Type.String(),
  contact_id: Type.String(),
  user_id: Type.String(),
  type: Type.Literal('contact'),
  note: Type.String({ description: 'Basic HTML, sanitized.' }),
  note_text: Type.String({ description: 'Plain text.' }),
  attachments: Type.Array(Type.Unknown()),
  created_at: Type.Integer({ description: 'Epoch ms.' }),
  created_by: Type.String(),
};

/** Notes of one contact (contract, Contact details). */
export const notesRoutes = ({ notes }: { notes: NotesService }): RouteSpec[] => [
  route({
    ...{ method: 'POST', path: PATH, operationId: 'createContactNote', tag: 'Contact details' },
    summary: 'Add a note to a contact',
    description: 'The text is made of the HTML when it is not given. New notes are not pinned.',
    scopes: ['contacts:write'],
    params: ContactParams,
    body: Type.Object({
      note: Type.String({ minLength: 1, maxLength: NOTE_LENGTH_MAX, description: 'Basic HTML.' }),
      note_text: Type.Optional(Type.String({ maxLength: NOTE_LENGTH_MAX })),
    }),
    data: Type.Object(NOTE_FIELDS),
    status: 201,
    errors: ['not-found', 'conflict'],
    example: { body: { note: '<p>Asked for a call in <b>May</b>.</p>' } },
    handler: async ({ caller, params, body }) =>
      presentNote(
        await notes.create(caller, params.contact_id, { note: body.note, noteText: body.note_text }),
      ),
  }),
  route({
    ...{ method: 'GET', path: PATH, operationId: 'listContactNotes', tag: 'Contact details' },
    summary: 'List the notes of a contact, newest first',
    scopes: ['contacts:read'],
    params: ContactParams,
    data: Type.Array(
      Type.Object({
        ...NOTE_FIELDS,
        username: Type.Union([Type.String(), Type.Null()], { description: 'Who wrote it.' }),
      }),
    ),
    errors: ['not-found'],
    handler: async ({ caller, params }) =>
      (await notes.list(caller, params.contact_id)).map(presentListedNote),
  }),
];
