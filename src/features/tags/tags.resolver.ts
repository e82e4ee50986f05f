import { newestFirst } from '../../kernel/keyset.ts';
import {
  actIn,
  Arg,
  Args,
  ArgsType,
  Ctx,
  Field,
  given,
  keysetOf,
  mutate,
  Mutation,
  Query,
  Resolver,
  TeamPageArgs,
} from '../../platform/graphql/index.ts';
import type { ConnectionShape, GraphContext, Payload } from '../../platform/graphql/index.ts';
import {
  CreateTagInput,
  CreateTagPayload,
  DeleteTagInput,
  DeleteTagPayload,
  DeleteTagsInput,
  DeleteTagsPayload,
  TagConnection,
  UpdateTagInput,
  UpdateTagPayload,
} from './tag.type.ts';
import type { Tag, TagsService } from './tags.service.ts';

@ArgsType()
class TagsArgs extends TeamPageArgs {
  @Field(() => String, { nullable: true, description: 'A part of the label.' })
  search?: string | null;
}

@Resolver()
export class TagsResolver {
  readonly #tags: TagsService;

  constructor(options: { tags: TagsService }) {
    this.#tags = options.tags;
  }

  @Query(() => TagConnection, { nullable: true, description: 'Newest first. Scope contacts:read.' })
  async tags(
    @Ctx() context: GraphContext,
    @Args(() => TagsArgs) args: TagsArgs,
  ): Promise<ConnectionShape<Tag>> {
    const keyset = keysetOf(args);
    const query = given({ searchTerm: args.search });
    const tags = await this.#tags.list(await actIn(context, args.teamId), query);
    const page = newestFirst(tags, keyset, (tag) => ({ atMs: tag.createdAtMs, id: tag.tagId }));
    return new TagConnection({ keyset, ...page, count: async () => tags.length });
  }

  @Mutation(() => CreateTagPayload, { nullable: true, description: 'Scope contacts:write.' })
  async createTag(
    @Ctx() context: GraphContext,
    @Arg('input', () => CreateTagInput) input: CreateTagInput,
  ): Promise<Payload<'tag', Tag>> {
    const { label, color, textColor } = input;
    return mutate(context, { name: 'createTag', field: 'tag', input }, (caller) =>
      this.#tags.create(caller, { label, ...given({ color, textColor }) }),
    );
  }

  @Mutation(() => UpdateTagPayload, { nullable: true, description: 'Scope contacts:write.' })
  async updateTag(
    @Ctx() context: GraphContext,
    @Arg('input', () => UpdateTagInput) input: UpdateTagInput,
  ): Promise<Payload<'tag', Tag>> {
    const { label, color, textColor } = input;
    return mutate(context, { name: 'updateTag', field: 'tag', input }, (caller) =>
      this.#tags.update(caller, input.id, { label, ...given({ color, textColor }) }),
    );
  }

  @Mutation(() => DeleteTagPayload, { nullable: true, description: 'Scope contacts:write.' })
  async deleteTag(
    @Ctx() context: GraphContext,
    @Arg('input', () => DeleteTagInput) input: DeleteTagInput,
  ): Promise<Payload<'tag', { id: string }>> {
    return mutate(context, { name: 'deleteTag', field: 'tag', input }, async (caller) => ({
      id: (await this.#tags.remove(caller, input.id)).tagId,
    }));
  }

  @Mutation(() => DeleteTagsPayload, {
    nullable: true,
    description: 'Unknown and deleted ones are skipped. Scope contacts:write.',
  })
  async deleteTags(
    @Ctx() context: GraphContext,
    @Arg('input', () => DeleteTagsInput) input: DeleteTagsInput,
  ): Promise<Payload<'deletion', { matched: number; modified: number }>> {
    return mutate(context, { name: 'deleteTags', field: 'deletion', input }, (caller) =>
      this.#tags.bulkRemove(caller, input.ids),
    );
  }
}
