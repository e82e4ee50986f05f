import {
  actIn,
  Arg,
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  given,
  ID,
  InputType,
  keysetOf,
  PageArgs,
  Query,
  Resolver,
  Root,
  TeamPageArgs,
  within,
} from '../../platform/graphql/index.ts';
import type { ConnectionShape, GraphContext } from '../../platform/graphql/index.ts';
import type { AroundQueryService, AroundViews, ContactTagView, Keyed } from './around.query.service.ts';
import type { ContactsQueryService, Placed } from './contacts.query.service.ts';
import type { Contact } from './contacts.row.ts';
import type { ContactsService } from './contacts.service.ts';
import type { ContactList } from './lists.rules.ts';
import type { ListsService } from './lists.service.ts';
import {
  ConsentConnection,
  ContactConnection,
  ContactTagType,
  ContactType,
  FollowUpConnection,
  NoteConnection,
  TimelineConnection,
} from './contact.type.ts';
import { ContactListType } from './list.type.ts';

@InputType('ContactFilter', { description: 'All that is given must hold.' })
class ContactFilterInput {
  @Field(() => ID, { nullable: true })
  listId?: string | null;

  @Field(() => ID, { nullable: true })
  tagId?: string | null;

  @Field(() => ID, { nullable: true })
  ownerId?: string | null;

  @Field(() => Boolean, { nullable: true })
  dnc?: boolean | null;

  @Field(() => String, { nullable: true, description: 'Exactly, in either case.' })
  email?: string | null;

  @Field(() => String, { nullable: true, description: 'E.164.' })
  phoneNumber?: string | null;
}

@ArgsType()
class ContactsArgs extends TeamPageArgs {
  @Field(() => String, { nullable: true, description: 'A part of the name, email, number or company.' })
  search?: string | null;

  @Field(() => ContactFilterInput, { nullable: true })
  filter?: ContactFilterInput | null;
}

type AroundName = keyof AroundViews;

@Resolver(() => ContactType)
export class ContactsResolver {
  readonly #contacts: ContactsService;
  readonly #pages: ContactsQueryService;
  readonly #around: AroundQueryService;
  readonly #lists: ListsService;

  constructor(options: {
    contacts: ContactsService;
    pages: ContactsQueryService;
    around: AroundQueryService;
    lists: ListsService;
  }) {
    this.#contacts = options.contacts;
    this.#pages = options.pages;
    this.#around = options.around;
    this.#lists = options.lists;
  }

  @Query(() => ContactConnection, { nullable: true, description: 'Newest first. Scope contacts:read.' })
  async contacts(
    @Ctx() context: GraphContext,
    @Args(() => ContactsArgs) args: ContactsArgs,
  ): Promise<ConnectionShape<Placed<Contact>>> {
    const caller = await actIn(context, args.teamId);
    const keyset = keysetOf(args);
    const wish = { ...given(args.filter ?? {}), ...given({ searchTerm: args.search }) };
    return new ContactConnection({
      keyset,
      page: await this.#pages.contacts(caller, wish, keyset),
      keyOf: (contact) => contact.key,
      count: () => this.#pages.countContacts(caller, wish),
    });
  }

  @Query(() => ContactType, { nullable: true, description: 'Scope contacts:read.' })
  async contact(
    @Ctx() context: GraphContext,
    @Arg('id', () => ID) id: string,
    @Arg('teamId', () => ID, { nullable: true }) teamId?: string | null,
  ): Promise<Contact> {
    return this.#contacts.get(await actIn(context, teamId), id);
  }

  @FieldResolver(() => [ContactTagType], { nullable: true })
  async tags(@Root() contact: Contact, @Ctx() context: GraphContext): Promise<ContactTagView[] | null> {
    const { teamId, contactId } = contact;
    const loader = context.loaders.of(`contact.tags ${teamId}`, (ids) =>
      this.#around.tags(within(context, teamId), ids),
    );
    return loader.load(contactId);
  }

  @FieldResolver(() => [ContactListType], { nullable: true, description: 'Scope lists:read.' })
  async lists(@Root() contact: Contact, @Ctx() context: GraphContext): Promise<ContactList[]> {
    const { teamId, listIds } = contact;
    const loader = context.loaders.of(`list ${teamId}`, async (ids) => {
      const lists = await this.#lists.byIds(within(context, teamId), ids);
      return new Map(lists.map((list) => [list.listId, list]));
    });
    const found = await Promise.all(listIds.map((id) => loader.load(id)));
    return found.filter((list) => list !== null);
  }

  @FieldResolver(() => NoteConnection, { nullable: true, description: 'Newest first.' })
  async notes(
    @Root() contact: Contact,
    @Ctx() context: GraphContext,
    @Args(() => PageArgs) args: PageArgs,
  ): Promise<unknown> {
    return new NoteConnection(await this.#source('notes', { contact, context, args }));
  }

  @FieldResolver(() => TimelineConnection, { nullable: true, description: 'Newest first.' })
  async timeline(
    @Root() contact: Contact,
    @Ctx() context: GraphContext,
    @Args(() => PageArgs) args: PageArgs,
  ): Promise<unknown> {
    return new TimelineConnection(await this.#source('timeline', { contact, context, args }));
  }

  @FieldResolver(() => FollowUpConnection, { nullable: true, description: 'Soonest first.' })
  async followUps(
    @Root() contact: Contact,
    @Ctx() context: GraphContext,
    @Args(() => PageArgs) args: PageArgs,
  ): Promise<unknown> {
    return new FollowUpConnection(await this.#source('followUps', { contact, context, args }));
  }

  @FieldResolver(() => ConsentConnection, {
    nullable: true,
    description: 'Records of consent, newest first. Scope consent:read.',
  })
  async consent(
    @Root() contact: Contact,
    @Ctx() context: GraphContext,
    @Args(() => PageArgs) args: PageArgs,
  ): Promise<unknown> {
    return new ConsentConnection(await this.#source('consents', { contact, context, args }));
  }

  /** One call for all contacts of the request that ask for the same page of the same relation. */
  async #source<N extends AroundName>(
    name: N,
    of: { contact: Contact; context: GraphContext; args: PageArgs },
  ) {
    const { contact, context, args } = of;
    const keyset = keysetOf(args);
    const caller = within(context, contact.teamId);
    const where = `contact.${name} ${contact.teamId}`;
    const pages = context.loaders.of(`${where} ${args.first} ${args.after ?? ''}`, (contactIds) =>
      this.#around.pages(caller, name, { contactIds, keyset }),
    );
    const counts = context.loaders.of(`${where} count`, (ids) => this.#around.counts(caller, name, ids));
    const page = (await pages.load(contact.contactId)) ?? { rows: [], hasNext: false };
    return {
      keyset,
      page,
      keyOf: (row: Keyed<AroundViews[N]>) => row.key,
      count: async () => (await counts.load(contact.contactId)) ?? 0,
    };
  }
}
