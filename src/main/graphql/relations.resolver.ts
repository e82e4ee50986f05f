import type { TeamsQueryService } from '../../features/accounts/teams.query.service.ts';
import type { UserView } from '../../features/accounts/teams.query.store.ts';
import { UserType } from '../../features/accounts/team.type.ts';
import type { NoteView, Keyed } from '../../features/contacts/around.query.service.ts';
import { ContactType, FollowUpType, NoteType } from '../../features/contacts/contact.type.ts';
import { TaskType } from '../../features/contacts/list.type.ts';
import type { Contact, ContactsService, FollowUp, Task } from '../../features/contacts/index.ts';
import { DetectionKeyType } from '../../features/credentials/detection-key.type.ts';
import type { DetectionKeyView } from '../../features/credentials/detection-key.type.ts';
import type { DetectionKeysService } from '../../features/credentials/index.ts';
import {
  DetectionKeyFiguresType,
  DetectionSessionType,
} from '../../features/detection/session.graph.type.ts';
import type { SessionListed } from '../../features/detection/sessions.query.store.ts';
import { SendConnection } from '../../features/sends/send.graph.type.ts';
import type { SendsQueryService } from '../../features/sends/sends.query.service.ts';
import type { SendListed } from '../../features/sends/sends.query.store.ts';
import {
  Args,
  Ctx,
  FieldResolver,
  keysetOf,
  PageArgs,
  Resolver,
  Root,
  within,
} from '../../platform/graphql/index.ts';
import type { ConnectionShape, GraphContext } from '../../platform/graphql/index.ts';

/*
 * Relations between objects of different slices: only the composition knows them all. Each is gathered over the request
 * and loaded by one call.
 */

type Keys = Pick<DetectionKeysService, 'list'>;

/** The keys of an account are few: they are read once, whichever are asked for. */
const keyOf = (
  keys: Keys,
  context: GraphContext,
  of: { teamId: string; keyId: string },
): Promise<DetectionKeyView | null> =>
  context.loaders
    .of(`detection key ${of.teamId}`, async () => {
      const all = await keys.list(within(context, of.teamId));
      return new Map(all.map((key) => [key.keyId, key]));
    })
    .load(of.keyId);

const userOf = (
  teams: TeamsQueryService,
  context: GraphContext,
  of: { teamId: string; userId: string },
): Promise<UserView | null> =>
  context.loaders
    .of(`user ${of.teamId}`, (ids) => teams.usersById(within(context, of.teamId), ids))
    .load(of.userId);

@Resolver(() => DetectionSessionType)
export class SessionRelations {
  readonly #keys: Keys;

  constructor(options: { detectionKeys: Keys }) {
    this.#keys = options.detectionKeys;
  }

  @FieldResolver(() => DetectionKeyType, { nullable: true, description: 'Null: it was revoked.' })
  async key(@Root() { teamId, keyId }: SessionListed, @Ctx() context: GraphContext): Promise<unknown> {
    return keyOf(this.#keys, context, { teamId, keyId });
  }
}

@Resolver(() => DetectionKeyFiguresType)
export class FiguresRelations {
  readonly #keys: Keys;

  constructor(options: { detectionKeys: Keys }) {
    this.#keys = options.detectionKeys;
  }

  @FieldResolver(() => DetectionKeyType, { nullable: true, description: 'Null: it was revoked.' })
  async key(
    @Root() { teamId, keyId }: { teamId: string; keyId: string },
    @Ctx() context: GraphContext,
  ): Promise<unknown> {
    return keyOf(this.#keys, context, { teamId, keyId });
  }
}

@Resolver(() => ContactType)
export class ContactRelations {
  readonly #teams: TeamsQueryService;
  readonly #sends: SendsQueryService;

  constructor(options: { teams: TeamsQueryService; sends: SendsQueryService }) {
    this.#teams = options.teams;
    this.#sends = options.sends;
  }

  @FieldResolver(() => SendConnection, {
    nullable: true,
    description: 'Newest first; of the channels whose scope is held.',
  })
  async sends(
    @Root() { contactId, teamId }: Contact,
    @Ctx() context: GraphContext,
    @Args(() => PageArgs) args: PageArgs,
  ): Promise<ConnectionShape<SendListed>> {
    const keyset = keysetOf(args);
    const caller = within(context, teamId);
    const where = `contact.sends ${teamId}`;
    const pages = context.loaders.of(`${where} ${args.first} ${args.after ?? ''}`, (ids) =>
      this.#sends.ofContacts(caller, ids, keyset),
    );
    const counts = context.loaders.of(`${where} count`, (ids) => this.#sends.countOfContacts(caller, ids));
    return new SendConnection({
      keyset,
      page: (await pages.load(contactId)) ?? { rows: [], hasNext: false },
      keyOf: ({ sendId }) => [sendId],
      count: async () => (await counts.load(contactId)) ?? 0,
    });
  }

  @FieldResolver(() => UserType, { nullable: true })
  async owner(@Root() { teamId, ownerId }: Contact, @Ctx() context: GraphContext): Promise<UserView | null> {
    return ownerId === null ? null : userOf(this.#teams, context, { teamId, userId: ownerId });
  }
}

@Resolver(() => NoteType)
export class NoteRelations {
  readonly #teams: TeamsQueryService;

  constructor(options: { teams: TeamsQueryService }) {
    this.#teams = options.teams;
  }

  @FieldResolver(() => UserType, { nullable: true, description: 'Who wrote it.' })
  async user(@Root() note: Keyed<NoteView>, @Ctx() context: GraphContext): Promise<UserView | null> {
    const { teamId = context.caller.teamId, userId } = note;
    return userOf(this.#teams, context, { teamId, userId });
  }
}

type OfContact = { contactId: string; teamId?: string };

/** The contact of a follow-up or a task, which come with or without their account. */
const contactOf = (
  contacts: ContactsService,
  context: GraphContext,
  { contactId, teamId = context.caller.teamId }: OfContact,
): Promise<Contact | null> =>
  context.loaders
    .of(`contact ${teamId}`, async (ids) => {
      const found = await contacts.byIds(within(context, teamId), ids);
      return new Map(found.map((contact) => [contact.contactId, contact]));
    })
    .load(contactId);

@Resolver(() => FollowUpType)
export class FollowUpRelations {
  readonly #contacts: ContactsService;

  constructor(options: { contacts: ContactsService }) {
    this.#contacts = options.contacts;
  }

  @FieldResolver(() => ContactType, { nullable: true })
  async contact(@Root() followUp: FollowUp, @Ctx() context: GraphContext): Promise<Contact | null> {
    return contactOf(this.#contacts, context, followUp);
  }
}

@Resolver(() => TaskType)
export class TaskRelations {
  readonly #contacts: ContactsService;

  constructor(options: { contacts: ContactsService }) {
    this.#contacts = options.contacts;
  }

  @FieldResolver(() => ContactType, { nullable: true })
  async contact(@Root() task: Task, @Ctx() context: GraphContext): Promise<Contact | null> {
    return contactOf(this.#contacts, context, task);
  }
}
