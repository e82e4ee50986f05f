import {
  actIn,
  Arg,
  Args,
  ArgsType,
  Ctx,
  Field,
  given,
  ID,
  keysetOf,
  mutate,
  Mutation,
  Query,
  Resolver,
  TeamPageArgs,
} from '../../platform/graphql/index.ts';
import type { ConnectionShape, GraphContext, Payload } from '../../platform/graphql/index.ts';
import type { Consent, RevokedConsents } from './consent.service.ts';
import {
  CancelFollowUpPayload,
  CompleteTaskPayload,
  ContactIdInput,
  CreateFollowUpInput,
  CreateFollowUpPayload,
  CreateNoteInput,
  CreateNotePayload,
  GrantConsentInput,
  GrantConsentPayload,
  RevokeConsentInput,
  RevokeConsentPayload,
  UpdateFollowUpInput,
  UpdateFollowUpPayload,
} from './contact.input.type.ts';
import { TaskConnection, TaskStatusEnum } from './list.type.ts';
import type { FollowUp } from './follow-ups.service.ts';
import type { Note } from './notes.service.ts';
import type { AroundContacts } from './surroundings.ts';
import type { TasksQueryService } from './tasks.query.service.ts';
import type { Task } from './tasks.service.ts';

@ArgsType()
class TasksArgs extends TeamPageArgs {
  @Field(() => TaskStatusEnum, { nullable: true })
  status?: Task['status'] | null;

  @Field(() => ID, { nullable: true })
  assignedTo?: string | null;
}

/** Notes, follow-ups, tasks and consent. */
@Resolver()
export class AroundMutationResolver {
  readonly #around: AroundContacts;
  readonly #tasks: TasksQueryService;

  constructor(options: { around: AroundContacts; tasks: TasksQueryService }) {
    this.#around = options.around;
    this.#tasks = options.tasks;
  }

  @Query(() => TaskConnection, {
    nullable: true,
    description: 'Inbox tasks, latest due first. Scope contacts:read.',
  })
  async tasks(
    @Ctx() context: GraphContext,
    @Args(() => TasksArgs) args: TasksArgs,
  ): Promise<ConnectionShape<Task>> {
    const caller = await actIn(context, args.teamId);
    const keyset = keysetOf(args);
    const query = { status: args.status ?? null, assignedTo: args.assignedTo ?? null };
    return new TaskConnection({
      keyset,
      page: await this.#tasks.list(caller, query, keyset),
      keyOf: (task) => [String(task.dueAtMs * 1_000), task.taskId],
      count: () => this.#tasks.count(caller, query),
    });
  }

  @Mutation(() => CreateNotePayload, { nullable: true, description: 'Scope contacts:write.' })
  async createNote(
    @Ctx() context: GraphContext,
    @Arg('input', () => CreateNoteInput) input: CreateNoteInput,
  ): Promise<Payload<'note', Note>> {
    const { contactId, note, noteText } = input;
    return mutate(context, { name: 'createNote', field: 'note', input }, (caller) =>
      this.#around.notes.create(caller, contactId, { note, ...given({ noteText }) }),
    );
  }

  @Mutation(() => CreateFollowUpPayload, {
    nullable: true,
    description: 'Becomes an inbox task when it is due. Scope contacts:write.',
  })
  async createFollowUp(
    @Ctx() context: GraphContext,
    @Arg('input', () => CreateFollowUpInput) input: CreateFollowUpInput,
  ): Promise<Payload<'followUp', FollowUp>> {
    const { contactId, scheduledAt, description, assignedTo, assignedType } = input;
    return mutate(context, { name: 'createFollowUp', field: 'followUp', input }, (caller) =>
      this.#around.followUps.create(caller, contactId, {
        scheduledAt,
        ...given({ description, assignedTo, assignedType }),
      }),
    );
  }

  @Mutation(() => UpdateFollowUpPayload, {
    nullable: true,
    description: 'Of a pending one. Scope contacts:write.',
  })
  async updateFollowUp(
    @Ctx() context: GraphContext,
    @Arg('input', () => UpdateFollowUpInput) input: UpdateFollowUpInput,
  ): Promise<Payload<'followUp', FollowUp>> {
    const { id, scheduledAt, description, assignedTo, assignedType } = input;
    return mutate(context, { name: 'updateFollowUp', field: 'followUp', input }, (caller) =>
      this.#around.followUps.update(
        caller,
        id,
        given({ scheduledAt, description, assignedTo, assignedType }),
      ),
    );
  }

  @Mutation(() => CancelFollowUpPayload, {
    nullable: true,
    description: 'It never becomes a task. Scope contacts:write.',
  })
  async cancelFollowUp(
    @Ctx() context: GraphContext,
    @Arg('input', () => ContactIdInput) input: ContactIdInput,
  ): Promise<Payload<'followUp', FollowUp>> {
    return mutate(context, { name: 'cancelFollowUp', field: 'followUp', input }, (caller) =>
      this.#around.followUps.cancel(caller, input.id),
    );
  }

  @Mutation(() => CompleteTaskPayload, {
    nullable: true,
    description: 'Completes its follow-up too. Scope contacts:write.',
  })
  async completeTask(
    @Ctx() context: GraphContext,
    @Arg('input', () => ContactIdInput) input: ContactIdInput,
  ): Promise<Payload<'task', Task>> {
    return mutate(context, { name: 'completeTask', field: 'task', input }, (caller) =>
      this.#around.tasks.complete(caller, input.id),
    );
  }

  @Mutation(() => GrantConsentPayload, {
    nullable: true,
    description: 'The wording is kept with its hash. Scope consent:write.',
  })
  async grantConsent(
    @Ctx() context: GraphContext,
    @Arg('input', () => GrantConsentInput) input: GrantConsentInput,
  ): Promise<Payload<'consent', Consent>> {
    const { contactId, consentType, phoneNumber, consentText, consentMethod } = input;
    return mutate(context, { name: 'grantConsent', field: 'consent', input }, (caller) =>
      this.#around.consents.grant(caller, contactId, {
        ...{ consentType, phoneNumber, consentText, consentMethod },
      }),
    );
  }

  @Mutation(() => RevokeConsentPayload, { nullable: true, description: 'Scope consent:write.' })
  async revokeConsent(
    @Ctx() context: GraphContext,
    @Arg('input', () => RevokeConsentInput) input: RevokeConsentInput,
  ): Promise<Payload<'consent', RevokedConsents>> {
    const { contactId, consentType, phoneNumber } = input;
    return mutate(context, { name: 'revokeConsent', field: 'consent', input }, (caller) =>
      this.#around.consents.revoke(caller, contactId, { consentType, phoneNumber }),
    );
  }
}
