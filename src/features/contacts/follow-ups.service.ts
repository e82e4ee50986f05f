import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import { isUuid } from '../../kernel/ids.ts';
import type { Ids } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import { checkText, invalidField } from '../../kernel/text.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import type { Outbox } from '../../platform/outbox/index.ts';
import { checkAssignedType, checkDescription, checkScheduledAt, checkStatus } from './follow-ups.rules.ts';
import type { AssignedType } from './follow-ups.rules.ts';
import { FollowUpsStore } from './follow-ups.store.ts';
import type { FollowUpContent, FollowUpRow } from './follow-ups.store.ts';
import { noContact } from './surroundings.service.ts';
import type { Change, Surroundings } from './surroundings.service.ts';
import { TasksStore } from './tasks.store.ts';
import type { TimelineService } from './timeline.service.ts';

/** Topic of the message that makes a follow-up due; its key is the follow-up's id. */
export const FOLLOW_UP_DUE = 'followup.due';
const ID_LENGTH_MAX = 64;

export type FollowUp = FollowUpRow;

/** As it came: nothing is checked yet. */
export interface FollowUpInput {
  scheduledAt?: unknown;
  description?: unknown;
  assignedTo?: unknown;
  assignedType?: unknown;
}

export interface FollowUpsOptions {
  db: Db;
  clock: Clock;
  ids: Ids;
  outbox: Outbox;
  surroundings: Surroundings;
  timeline: TimelineService;
}

/** What a due message says. */
export interface DueFollowUp {
  teamId: string;
  contactId: string;
  followupId: string;
}

/**
 * Follow-ups: pending → triggered → completed, or pending → cancelled; nothing else.
 * A pending one has a message in the outbox that comes at its time, changed and taken back in the transaction that changes
 * it. Every transaction takes the message first, then the contact, then the follow-up: none waits for one that waits for it.
 */
export class FollowUpsService {
  readonly #options: FollowUpsOptions;
  readonly #store: FollowUpsStore;
  readonly #tasks: TasksStore;

  constructor(options: FollowUpsOptions) {
    this.#options = options;
    this.#store = new FollowUpsStore(options.db);
    this.#tasks = new TasksStore(options.db);
  }

  /** @throws Problem insufficient-scope, validation-error, not-found (contact, user), conflict (too many) */
  async create(caller: Caller, contactId: string, input: FollowUpInput): Promise<FollowUp> {
    requireScope(caller, 'contacts:write');
    const { clock, ids, surroundings, timeline } = this.#options;
    const content: FollowUpContent = {
      scheduledAtMs: checkScheduledAt(input.scheduledAt, clock.nowMs()),
      ...checkDescription(input.description ?? ''),
      assignedType: checkAssignedType(input.assignedType ?? 'user'),
      assignedTo: caller.userId,
    };
    if (input.assignedTo !== undefined) content.assignedTo = await this.#assignee(caller, input.assignedTo);
    requireMatch(caller.teamId, content);
    return surroundings.change(caller, contactId, async (tx, change) => {
      await surroundings.requireRoom(tx, change, 'follow_ups');
      const made: FollowUp = {
        ...{ followupId: ids.uuid(), contactId: change.contactId, status: 'pending', taskId: null },
        ...{ ...content, createdAtMs: change.nowMs, createdBy: change.userId },
      };
      await this.#store.insert(tx, { ...made, teamId: change.teamId });
      await this.#remind(tx, { ...change, followupId: made.followupId }, made.scheduledAtMs);
      const { followupId, scheduledAtMs, assignedTo, assignedType } = made;
      await timeline.add(
        tx,
        entry(change, 'created', {
          ...{ followup_id: followupId, scheduled_at: scheduledAtMs },
          ...{ assigned_to: assignedTo, assigned_type: assignedType, created_by: change.userId },
        }),
      );
      return made;
    });
  }

  /** Soonest first; cancelled ones only when `status` asks for them. @throws Problem insufficient-scope, validation-error, not-found */
  async list(caller: Caller, contactId: string, query: { status?: unknown } = {}): Promise<FollowUp[]> {
    requireScope(caller, 'contacts:read');
    const status = checkStatus(query.status);
    await this.#options.surroundings.requireContact(caller, contactId);
    return this.#store.list(caller.teamId, contactId, status);
  }

  /** An empty description clears it. @throws Problem insufficient-scope, validation-error, not-found, conflict (not pending) */
  async update(caller: Caller, followupId: string, input: FollowUpInput): Promise<FollowUp> {
    requireScope(caller, 'contacts:write');
    if (Object.values(input).every((value) => value === undefined)) {
      throw new Problem('validation-error', 'Nothing to change was sent.');
    }
    const change: Partial<FollowUpContent> = {
      ...(input.scheduledAt === undefined
        ? {}
        : { scheduledAtMs: checkScheduledAt(input.scheduledAt, this.#options.clock.nowMs()) }),
      ...(input.description === undefined ? {} : checkDescription(input.description)),
      ...(input.assignedType === undefined ? {} : { assignedType: checkAssignedType(input.assignedType) }),
      ...(input.assignedTo === undefined
        ? {}
        : { assignedTo: await this.#assignee(caller, input.assignedTo) }),
    };
    return this.#changePending(caller, followupId, async (tx, at, current) => {
      const changed = { ...current, ...change };
      requireMatch(caller.teamId, changed);
      await this.#store.setContent(tx, at, changed);
      await this.#remind(tx, at, changed.scheduledAtMs);
      return changed;
    });
  }

  /** It never becomes a task. @throws Problem insufficient-scope, not-found, conflict (not pending) */
  async cancel(caller: Caller, followupId: string): Promise<FollowUp> {
    requireScope(caller, 'contacts:write');
    return this.#changePending(caller, followupId, async (tx, at, current) => {
      await this.#store.setStatus(tx, at, { from: 'pending', status: 'cancelled' });
      const data = { followup_id: current.followupId, cancelled_by: at.userId };
      await this.#options.timeline.add(tx, entry(at, 'cancelled', data));
      return { ...current, status: 'cancelled' };
    });
  }

  /**
   * Makes the inbox task of one that is due, in the transaction that ends its message; nothing when it is no longer
   * pending. `retryAtMs`: it is not due yet (it was put off while its message was handed out).
   */
  async trigger(tx: Tx, due: DueFollowUp): Promise<{ retryAtMs: number } | void> {
    const { clock, ids, surroundings, timeline } = this.#options;
    const nowMs = clock.nowMs();
    const { teamId, contactId, followupId } = due;
    if (!(await surroundings.holds(tx, teamId, contactId))) return;
    const current = await this.#store.lock(tx, teamId, followupId);
    if (current?.status !== 'pending') return;
    if (current.scheduledAtMs > nowMs) return { retryAtMs: current.scheduledAtMs };
    const { description, descriptionText, assignedTo, assignedType, scheduledAtMs } = current;
    const taskId = ids.uuid();
    await this.#store.setStatus(tx, { ...due, nowMs }, { from: 'pending', status: 'triggered', taskId });
    await this.#tasks.insert(tx, {
      ...{ taskId, teamId, contactId, followupId, description, descriptionText, assignedTo, assignedType },
      ...{
        status: 'open',
        dueAtMs: scheduledAtMs,
        createdAtMs: nowMs,
        completedAtMs: null,
        completedBy: null,
      },
    });
    const data = {
      followup_id: followupId,
      task_id: taskId,
      assigned_to: assignedTo,
      assigned_type: assignedType,
    };
    await timeline.add(tx, entry({ teamId, contactId, nowMs }, 'triggered', data));
  }

  /** Takes the message back and locks what must be pending; `work` writes. */
  async #changePending(
    caller: Caller,
    followupId: string,
    work: (tx: Tx, at: Change & { followupId: string }, current: FollowUp) => Promise<FollowUp>,
  ): Promise<FollowUp> {
    const { clock, outbox, surroundings } = this.#options;
    const { teamId, userId } = caller;
    const found = isUuid(followupId) ? await this.#store.find(teamId, followupId) : null;
    if (!found) throw noFollowUp();
    requirePending(found);
    return outbox.tx(async (tx) => {
      await outbox.cancel(tx, FOLLOW_UP_DUE, found.followupId);
      if (!(await surroundings.holds(tx, teamId, found.contactId))) throw noContact();
      const current = await this.#store.lock(tx, teamId, found.followupId);
      if (!current) throw noFollowUp();
      requirePending(current);
      const { contactId } = current;
      return work(
        tx,
        { teamId, contactId, userId, followupId: found.followupId, nowMs: clock.nowMs() },
        current,
      );
    });
  }

  #remind(tx: Tx, of: DueFollowUp, atMs: number): Promise<void> {
    const { teamId, contactId, followupId } = of;
    const payload = { team_id: teamId, contact_id: contactId };
    const message = { topic: FOLLOW_UP_DUE, key: followupId, lane: teamId, payload, availableAtMs: atMs };
    return this.#options.outbox.add(tx, [message]);
  }

  /** A user of the account, or the account itself. @throws Problem validation-error, not-found */
  async #assignee(caller: Caller, assignedTo: unknown): Promise<string> {
    const id = checkText('assigned_to', assignedTo, ID_LENGTH_MAX);
    if (id.toLowerCase() === caller.teamId) return caller.teamId;
    return this.#options.surroundings.requireUser(caller.teamId, id);
  }
}

/** What belongs to the whole team may name the account as its assignee, what belongs to a user may not. */
function requireMatch(teamId: string, of: { assignedTo: string; assignedType: AssignedType }): void {
  if (of.assignedType === 'user' && of.assignedTo === teamId) {
    throw invalidField('assigned_to', 'assigned_to must be a user when assigned_type is user.');
  }
}

function requirePending(followUp: FollowUp): void {
  if (followUp.status === 'pending') return;
  throw new Problem('conflict', `The follow-up is ${followUp.status}: only pending ones can be changed.`);
}

const noFollowUp = (): Problem => new Problem('not-found', 'There is no such follow-up.');

const entry = (
  of: { teamId: string; contactId: string; nowMs: number },
  what: 'created' | 'triggered' | 'cancelled',
  data: Record<string, unknown>,
) => ({ teamId: of.teamId, contactId: of.contactId, type: `followup.${what}`, data, atMs: of.nowMs });
