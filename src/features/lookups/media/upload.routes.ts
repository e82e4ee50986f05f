import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { Problem } from '../../../kernel/problem.ts';
import { invalidField } from '../../../kernel/text.ts';
import { route } from '../../../platform/http/index.ts';
import type { RouteSpec } from '../../../platform/http/index.ts';
import { NAME_LENGTH_MAX, notFound } from '../input.rules.ts';
import { OrNull } from '../page.schema.ts';
import { presentMedia, presentUpload } from './media.present.ts';
import { FILE_BYTES_MAX, TYPE_LENGTH_MAX, UPLOAD_TYPES } from './media.rules.ts';
import { MediaData } from './media.schema.ts';
import type { MediaService, NewMedia } from './media.service.ts';

/** Fields that a form may have; those that nobody asked for are ignored. */
const FIELDS_MAX = 20;
const FIELD_BYTES_MAX = 4_096;
/** A second file is counted so that it can be refused by name. */
const LIMITS = {
  ...{ files: 2, fields: FIELDS_MAX, parts: FIELDS_MAX + 2, fieldSize: FIELD_BYTES_MAX },
  // One more than is taken: whoever takes the bytes refuses, instead of getting a file that was cut.
  fileSize: FILE_BYTES_MAX + 1,
};

const UploadAddress = Type.Object({ url: Type.String(), content_type: Type.String() });
const name = Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX });
const type = Type.String({ minLength: 1, maxLength: TYPE_LENGTH_MAX, description: 'Default audio.' });
const tag = 'Media';

/** The two ways audio comes in: with the request that makes it, or later to a signed address. */
export const uploadRoutes = (media: MediaService): RouteSpec[] => [create(media), receive(media)];

const create = (media: MediaService): RouteSpec =>
  route({
    ...{ method: 'POST', path: '/media/public/media', operationId: 'createMedia', tag },
    summary: 'Upload an audio file, or ask for an address to upload it to',
    description:
      'With JSON: the answer carries an address for MP3 and one for WAV; PUT the bytes to one of them within an hour ' +
      'with exactly its Content-Type, then complete. With multipart/form-data: the file itself, as part `file`. ' +
      'WAV (PCM, float, mu-law, A-law; mono or stereo) and MP3 are told by their content; at most 25 MiB and 30 minutes.',
    scopes: ['media:write'],
    bodyKind: 'json-or-multipart',
    body: Type.Object({ name, type: Type.Optional(type), signed_upload: Type.Literal(true) }),
    multipartBody: Type.Object({
      name,
      type: Type.Optional(type),
      file: Type.Unsafe<Uint8Array>({ type: 'string', contentMediaType: 'application/octet-stream' }),
    }),
    status: 201,
    data: Type.Composite([
      MediaData,
      Type.Object({ upload: Type.Optional(Type.Object({ mp3: UploadAddress, wav: UploadAddress })) }),
    ]),
    errors: ['conflict', 'unprocessable'],
    example: { body: { name: 'Greeting', type: 'audio', signed_upload: true } },
    handler: async ({ caller, request, body }) => {
      if (request.isMultipart()) {
        return presentMedia(await media.upload(caller, (take) => readForm(request, take)));
      }
      const made = await media.create(caller, { name: body.name, type: body.type });
      return { ...presentMedia(made.media), upload: presentUpload(made.upload) };
    },
  });

const receive = (media: MediaService): RouteSpec =>
  route({
    ...{ method: 'PUT', path: '/media/public/uploads/{format}/{token}', operationId: 'uploadMedia', tag },
    summary: 'The bytes of a signed upload',
    description:
      'The address comes from `POST /media/public/media` and works once, for an hour. A file that is refused does not use it up.',
    scopes: [],
    auth: 'none',
    params: Type.Object({ format: Type.String(), token: Type.String() }),
    bodyKind: 'raw',
    bodyTypes: Object.values(UPLOAD_TYPES),
    bodyLimit: FILE_BYTES_MAX,
    body: Type.Unsafe<Uint8Array>({ type: 'string', contentMediaType: 'audio/*' }),
    data: Type.Object({
      media_id: Type.String(),
      size_bytes: OrNull(Type.Integer()),
      duration_ms: OrNull(Type.Integer()),
    }),
    errors: ['not-found', 'unprocessable'],
    handler: async ({ params: { format, token }, request }) => {
      if (format !== 'mp3' && format !== 'wav') throw notFound('upload address');
      checkType(request, UPLOAD_TYPES[format]);
      const { mediaId, sizeBytes, durationMs } = await media.receive({ token, format }, bodyBytes(request));
      return { media_id: mediaId, size_bytes: sizeBytes, duration_ms: durationMs };
    },
  });

/** @throws Problem unsupported-media-type, payload-too-large */
function checkType(request: FastifyRequest, contentType: string): void {
  if (request.headers['content-type']?.trim().toLowerCase() !== contentType) {
    throw new Problem('unsupported-media-type', `This address takes Content-Type ${contentType}.`);
  }
  if (Number(request.headers['content-length']) > FILE_BYTES_MAX) {
    throw new Problem('payload-too-large', `The file is larger than ${FILE_BYTES_MAX} bytes.`);
  }
}

/**
 * The body as it comes. Whoever stops early gets to answer: the rest is read and thrown away, since a connection that is
 * cut while a client still sends takes the answer with it.
 */
async function* bodyBytes(request: FastifyRequest): AsyncGenerator<Uint8Array> {
  const { raw } = request;
  try {
    for await (const chunk of raw.iterator({ destroyOnReturn: false })) yield chunk as Buffer;
  } finally {
    raw.resume();
  }
}

/**
 * Reads the form of an upload: `name`, `type`, and one file as part `file`, in any order; the file is streamed into `take`.
 * @throws Problem validation-error (no file, two files, no name, a text that is too long), and what `take` throws
 */
async function readForm(
  request: FastifyRequest,
  take: (file: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<NewMedia> {
  const fields = new Map<string, string>();
  let hasFile = false;
  try {
    for await (const part of request.parts({ limits: LIMITS })) {
      if (part.type === 'file') {
        if (hasFile) throw invalidField('file', 'Send one file.');
        if (part.fieldname !== 'file') throw invalidField('file', 'Send the file as part file.');
        hasFile = true;
        await take(part.file);
      } else {
        if (part.valueTruncated) throw invalidField(part.fieldname, `${part.fieldname} is too long.`);
        fields.set(part.fieldname, String(part.value));
      }
    }
  } catch (error) {
    request.raw.unpipe();
    request.raw.resume();
    throw error;
  }
  if (!hasFile) throw invalidField('file', 'Send the file as part file.');
  const name = fields.get('name');
  if (name === undefined) throw invalidField('name', 'name is required.');
  return { name, type: fields.get('type') };
}
