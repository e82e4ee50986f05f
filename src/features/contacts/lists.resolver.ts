import { requireScope } from '../../kernel/caller.ts';
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
import type { AccountGates } from '../accounts/index.ts';
import {
  AddMembersPayload,
  ContactIdInput,
  CreateFieldInput,
  CreateFieldPayload,
  CreateListInput,
  CreateListPayload,
  DeleteListPayload,
  ListMembersInput,
  MoveContactInput,
  MoveContactPayload,
  RemoveMembersPayload,
  UpdateListInput,
  UpdateListPayload,
} from './contact.input.type.ts';
import type { ContactMoveType, MembersChangeType } from './contact.input.type.ts';
import { ContactListConnection, CustomFieldConnection } from './list.type.ts';
import type { ContactsQueryService, Placed } from './contacts.query.service.ts';
import type { CustomField } from './fields.rules.ts';
import type { FieldsService } from './fields.service.ts';
import type { ContactList } from './lists.rules.ts';
import type { ListsService } from './lists.service.ts';

@ArgsType()
class ListsArgs extends TeamPageArgs {
  @Field(() => String, { nullable: true, description: 'A part of the name.' })
  search?: string | null;
}

/** Lists and custom fields. */
@Resolver()
export class ListsResolver {
  readonly #lists: ListsService;
  readonly #pages: ContactsQueryService;
  readonly #fields: FieldsService;
  readonly #gates: Pick<AccountGates, 'requirePaid'>;

  constructor(options: {
    lists: ListsService;
    pages: ContactsQueryService;
    fields: FieldsService;
    gates: Pick<AccountGates, 'requirePaid'>;
  }) {
    this.#lists = options.lists;
    this.#pages = options.pages;
    this.#fields = options.fields;
    this.#gates = options.gates;
  }

  @Query(() => ContactListConnection, { nullable: true, description: 'Newest first. Scope lists:read.' })
  async lists(
    @Ctx() context: GraphContext,
    @Args(() => ListsArgs) args: ListsArgs,
  ): Promise<ConnectionShape<Placed<ContactList>>> {
    const caller = await actIn(context, args.teamId);
    const keyset = keysetOf(args);
    const searchTerm = args.search ?? undefined;
    return new ContactListConnection({
      keyset,
      page: await this.#pages.lists(caller, searchTerm, keyset),
      keyOf: (list) => list.key,
      count: () => this.#pages.countLists(caller, searchTerm),
    });
  }

  @Query(() => CustomFieldConnection, { nullable: true, description: 'Newest first. Scope contacts:read.' })
  async customFields(
    @Ctx() context: GraphContext,
    @Args(() => TeamPageArgs) args: TeamPageArgs,
  ): Promise<ConnectionShape<CustomField>> {
    const keyset = keysetOf(args);
    const fields = await this.#fields.list(await actIn(context, args.teamId));
    const page = newestFirst(fields, keyset, (field) => ({ atMs: field.createdAtMs, id: field.fieldId }));
    return new CustomFieldConnection({ keyset, ...page, count: async () => fields.length });
  }

  @Mutation(() => CreateListPayload, { nullable: true, description: 'Scope lists:write.' })
  async createList(
    @Ctx() context: GraphContext,
    @Arg('input', () => CreateListInput) input: CreateListInput,
  ): Promise<Payload<'list', ContactList>> {
    return mutate(context, { name: 'createList', field: 'list', input }, async (caller) => {
      requireScope(caller, 'lists:write');
      await this.#gates.requirePaid(caller);
      return this.#lists.create(caller, { name: input.name });
    });
  }

  @Mutation(() => UpdateListPayload, { nullable: true, description: 'Scope lists:write.' })
  async updateList(
    @Ctx() context: GraphContext,
    @Arg('input', () => UpdateListInput) input: UpdateListInput,
  ): Promise<Payload<'list', ContactList>> {
    return mutate(context, { name: 'updateList', field: 'list', input }, (caller) =>
      this.#lists.update(caller, input.id, { name: input.name }),
    );
  }

  @Mutation(() => DeleteListPayload, { nullable: true, description: 'Its contacts stay. Scope lists:write.' })
  async deleteList(
    @Ctx() context: GraphContext,
    @Arg('input', () => ContactIdInput) input: ContactIdInput,
  ): Promise<Payload<'list', { id: string }>> {
    return mutate(context, { name: 'deleteList', field: 'list', input }, async (caller) => ({
      id: (await this.#lists.remove(caller, input.id)).listId,
    }));
  }

  @Mutation(() => AddMembersPayload, { nullable: true, description: 'Scope lists:write.' })
  async addListMembers(
    @Ctx() context: GraphContext,
    @Arg('input', () => ListMembersInput) input: ListMembersInput,
  ): Promise<Payload<'change', MembersChangeType>> {
    const { listId, contactIds } = input;
    return mutate(context, { name: 'addListMembers', field: 'change', input }, async (caller) => ({
      listId,
      changed: (await this.#lists.add(caller, listId, contactIds)).added,
    }));
  }

  @Mutation(() => RemoveMembersPayload, { nullable: true, description: 'Scope lists:write.' })
  async removeListMembers(
    @Ctx() context: GraphContext,
    @Arg('input', () => ListMembersInput) input: ListMembersInput,
  ): Promise<Payload<'change', MembersChangeType>> {
    const { listId, contactIds } = input;
    return mutate(context, { name: 'removeListMembers', field: 'change', input }, async (caller) => ({
      listId,
      changed: (await this.#lists.take(caller, listId, contactIds)).removed,
    }));
  }

  @Mutation(() => MoveContactPayload, {
    nullable: true,
    description: 'From one list to another. Scope lists:write.',
  })
  async moveContact(
    @Ctx() context: GraphContext,
    @Arg('input', () => MoveContactInput) input: MoveContactInput,
  ): Promise<Payload<'move', ContactMoveType>> {
    const { contactId, fromListId, toListId } = input;
    return mutate(context, { name: 'moveContact', field: 'move', input }, async (caller) => {
      requireScope(caller, 'lists:write');
      await this.#gates.requirePaid(caller);
      return this.#lists.move(caller, contactId, { fromListId, toListId });
    });
  }

  @Mutation(() => CreateFieldPayload, { nullable: true, description: 'Scope contacts:write.' })
  async createCustomField(
    @Ctx() context: GraphContext,
    @Arg('input', () => CreateFieldInput) input: CreateFieldInput,
  ): Promise<Payload<'customField', CustomField>> {
    const { type, displayName } = input;
    const listItems = input.listItems?.map((item) => given(item));
    return mutate(context, { name: 'createCustomField', field: 'customField', input }, (caller) =>
      this.#fields.create(caller, { type, displayName, ...given({ listItems }) }),
    );
  }
}
