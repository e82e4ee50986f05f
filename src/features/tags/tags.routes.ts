import { Type } from '@sinclair/typebox';
import { route } from '../../platform/http/route.type.ts';
import type { RouteSpec } from '../../platform/http/route.type.ts';
import { presentChangedTag, presentNewTag, presentTag } from './tags.present.ts';
import { BULK_DELETE_MAX, COLOR_LENGTH_MAX, LABEL_LENGTH_MAX, TAGS_PER_ACCOUNT_MAX } from './tags.rules.ts';
import type { TagsService } from './tags.service.ts';

const ID_LENGTH_MAX = 64;
const NullableText = Type.Union([Type.String(), Type.Null()]);
const TAG_FIELDS = {
  tag_id: Type.String(),
  label: Type.String(),
  color: NullableText,
  text_color: NullableText,
  created_at: Type.Integer({ description: 'Epoch ms.' }),
  updated_at: Type.Integer({ description: 'Epoch ms.' }),
  created_by: Type.String(),
  updated_by: NullableText,
};
const TagSchema = Type.Object(TAG_FIELDS);
const NewTagSchema = Type.Object({
  ...TAG_FIELDS,
  is_seed: Type.Boolean(),
  deleted_at: Type.Union([Type.Integer(), Type.Null()]),
  deleted_by: NullableText,
});
const TagBody = Type.Object({
  // Not required here: the refusal of a missing label has words of its own.
  label: Type.Optional(
    Type.String({ maxLength: LABEL_LENGTH_MAX, description: 'Always needed; at least one character.' }),
  ),
  color: Type.Optional(Type.String({ maxLength: COLOR_LENGTH_MAX, description: '`#rgb` or `#rrggbb`.' })),
  text_color: Type.Optional(Type.String({ maxLength: COLOR_LENGTH_MAX })),
});
const TagParams = Type.Object({ tag_id: Type.String({ maxLength: ID_LENGTH_MAX }) });

const inputOf = (body: { label?: string; color?: string; text_color?: string }) => ({
  label: body.label,
  color: body.color,
  textColor: body.text_color,
});

const listRoute = (tags: TagsService): RouteSpec =>
  route({
    ...{ method: 'GET', path: '/tag/public/tags', operationId: 'listTags', tag: 'Tags' },
    summary: 'List tags, newest first',
    scopes: ['contacts:read'],
    query: Type.Object({
      search_term: Type.Optional(
        Type.String({ maxLength: LABEL_LENGTH_MAX, description: 'Label contains, either case.' }),
      ),
      limit: Type.Optional(
        Type.Integer({ minimum: 1, description: `Without it all tags; at most ${TAGS_PER_ACCOUNT_MAX}.` }),
      ),
    }),
    data: Type.Array(TagSchema),
    handler: async ({ caller, query }) => {
      const { search_term: searchTerm, limit } = query;
      const found = await tags.list(caller, {
        ...(searchTerm === undefined ? {} : { searchTerm }),
        ...(limit === undefined ? {} : { limit }),
      });
      return found.map(presentTag);
    },
  });

const createRoute = (tags: TagsService): RouteSpec =>
  route({
    ...{ method: 'POST', path: '/tag/public/tags', operationId: 'createTag', tag: 'Tags' },
    summary: 'Make a tag',
    scopes: ['contacts:write'],
    body: TagBody,
    data: NewTagSchema,
    status: 201,
    errors: ['conflict'],
    example: { body: { label: 'VIP', color: '#0066ff', text_color: '#fff' } },
    handler: async ({ caller, body }) => presentNewTag(await tags.create(caller, inputOf(body))),
  });

const updateRoute = (tags: TagsService): RouteSpec =>
  route({
    ...{ method: 'PUT', path: '/tag/public/tags/{tag_id}', operationId: 'updateTag', tag: 'Tags' },
    summary: 'Rename or recolor a tag',
    description: 'The label is always needed; colors that are not given stay.',
    scopes: ['contacts:write'],
    params: TagParams,
    body: TagBody,
    data: Type.Object({
      id: Type.String(),
      label: Type.String(),
      color: NullableText,
      text_color: NullableText,
      updated_at: Type.String({ description: 'ISO 8601.' }),
    }),
    errors: ['not-found'],
    example: { body: { label: 'Very important' } },
    handler: async ({ caller, params, body }) =>
      presentChangedTag(await tags.update(caller, params.tag_id, inputOf(body))),
  });

const removeRoute = (tags: TagsService): RouteSpec =>
  route({
    ...{ method: 'DELETE', path: '/tag/public/tags/{tag_id}', operationId: 'deleteTag', tag: 'Tags' },
    summary: 'Delete a tag',
    description: 'It leaves the list and cannot be added again; entries on contacts stay.',
    scopes: ['contacts:write'],
    params: TagParams,
    data: Type.Object({ id: Type.String(), deleted: Type.Literal(true) }),
    errors: ['not-found'],
    handler: async ({ caller, params }) => {
      const { tagId } = await tags.remove(caller, params.tag_id);
      return { id: tagId, deleted: true as const };
    },
  });

const bulkRemoveRoute = (tags: TagsService): RouteSpec =>
  route({
    ...{ method: 'POST', path: '/tag/public/tags/bulk-delete', operationId: 'bulkDeleteTags', tag: 'Tags' },
    summary: 'Delete several tags',
    description: 'Unknown and already deleted ids are skipped.',
    scopes: ['contacts:write'],
    body: Type.Object({
      tag_ids: Type.Array(Type.String({ maxLength: ID_LENGTH_MAX }), {
        minItems: 1,
        maxItems: BULK_DELETE_MAX,
      }),
    }),
    data: Type.Object({ matched_count: Type.Integer(), modified_count: Type.Integer() }),
    example: { body: { tag_ids: ['00000000-0000-4000-8000-000000000000'] } },
    handler: async ({ caller, body }) => {
      const { matched, modified } = await tags.bulkRemove(caller, body.tag_ids);
      return { matched_count: matched, modified_count: modified };
    },
  });

/** Routes of the contract's section Tags. */
export const tagsRoutes = ({ tags }: { tags: TagsService }): RouteSpec[] =>
  [listRoute, createRoute, updateRoute, removeRoute, bulkRemoveRoute].map((make) => make(tags));
