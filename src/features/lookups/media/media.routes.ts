import { Type } from '@sinclair/typebox';
import { route } from '../../../platform/http/index.ts';
import type { RouteSpec } from '../../../platform/http/index.ts';
import { skipPageOf, skipPageQuery } from '../page.schema.ts';
import type { AudioAddresses } from './audio-addresses.ts';
import { uploadRoutes } from './upload.routes.ts';
import { presentMedia } from './media.present.ts';
import { MediaData } from './media.schema.ts';
import type { MediaService } from './media.service.ts';

const ONE = '/media/public/media/{media_id}';
const params = Type.Object({ media_id: Type.String() });
const tag = 'Media';

/** Media (supplement 6, 12). */
export const mediaRoutes = ({
  media,
  audioAddresses,
}: {
  media: MediaService;
  audioAddresses: AudioAddresses;
}): RouteSpec[] => [
  list(media),
  ...uploadRoutes(media),
  get(media),
  complete(media),
  remove(media),
  play(audioAddresses),
];

const list = (media: MediaService): RouteSpec =>
  route({
    ...{ method: 'GET', path: '/media/public/media', operationId: 'listMedia', tag },
    summary: 'Audio files, newest first',
    scopes: ['media:read'],
    query: Type.Object(skipPageQuery),
    data: Type.Array(MediaData),
    handler: async ({ caller, query }) => (await media.list(caller, skipPageOf(query))).map(presentMedia),
  });

const get = (media: MediaService): RouteSpec =>
  route({
    ...{ method: 'GET', path: ONE, operationId: 'getMedia', tag },
    summary: 'One audio file',
    scopes: ['media:read'],
    params,
    data: MediaData,
    errors: ['not-found'],
    handler: async ({ caller, params: { media_id } }) => presentMedia(await media.get(caller, media_id)),
  });

const complete = (media: MediaService): RouteSpec =>
  route({
    ...{ method: 'POST', path: `${ONE}/complete`, operationId: 'completeMedia', tag },
    summary: 'Say that the bytes were uploaded',
    scopes: ['media:write'],
    params,
    status: 200,
    data: Type.Object({ media_id: Type.String(), media_exists: Type.Literal(true) }),
    errors: ['not-found', 'conflict'],
    handler: async ({ caller, params: { media_id } }) => {
      const { mediaId } = await media.complete(caller, media_id);
      return { media_id: mediaId, media_exists: true as const };
    },
  });

const remove = (media: MediaService): RouteSpec =>
  route({
    ...{ method: 'DELETE', path: ONE, operationId: 'deleteMedia', tag },
    summary: 'Delete an audio file',
    scopes: ['media:write'],
    params,
    data: Type.Object({ media_id: Type.String(), deleted: Type.Literal(true) }),
    errors: ['not-found'],
    handler: async ({ caller, params: { media_id } }) => {
      const { mediaId } = await media.remove(caller, media_id);
      return { media_id: mediaId, deleted: true as const };
    },
  });

const play = (addresses: AudioAddresses): RouteSpec =>
  route({
    ...{ method: 'GET', path: '/media/public/audio/{token}', operationId: 'playAudio', tag },
    summary: 'The audio behind an audio_url',
    scopes: [],
    auth: 'none',
    params: Type.Object({ token: Type.String() }),
    data: Type.Unsafe<Uint8Array>({ type: 'string', contentMediaType: 'audio/wav' }),
    dataType: 'audio/wav',
    errors: ['not-found'],
    handler: async ({ params: { token }, reply }) => {
      const { stream, sizeBytes } = await addresses.open(token);
      reply.header('Content-Length', sizeBytes).header('Cache-Control', 'private, max-age=300');
      return stream;
    },
  });
