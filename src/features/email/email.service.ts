import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import { isUuid } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import { invalidField } from '../../kernel/text.ts';
import type { Db } from '../../platform/db/index.ts';
import type { UsersService } from '../accounts/index.ts';
import { flattened } from './addresses.rules.ts';
import type { EmailDelivery, EmailDraft, Once } from './delivery.service.ts';
import type { EmailGates } from './email-gates.service.ts';
import {
  checkContent,
  checkEnvelope,
  checkId,
  checkIdempotencyKey,
  checkSubject,
  keyConflict,
  notSent,
  PREVIEW_LENGTH_MAX,
  requestHash,
  SUBJECT_LENGTH_MAX,
} from './email.rules.ts';
import type { EmailAnswer, NewEmail, NewTemplateEmail } from './email.rules.ts';
import { EmailsStore } from './emails.store.ts';
import { IdempotencyStore } from './idempotency.store.ts';
import { isTooLong, mergeHtml, mergeText } from './merge.rules.ts';
import type { MergedUser } from './merge.rules.ts';
import type { PartiesService } from './parties.service.ts';
import { answerOf } from './results.service.ts';
import { SourcesStore } from './sources.store.ts';
import type { EmailTemplate } from './sources.store.ts';

const ROUTE = 'POST /email/public/email';
/** A twin waits for the first one's answer: somewhat longer than a mail server is waited for. */
const TWIN_WAITS_MAX = 160;
const TWIN_PAUSE_MS = 250;

export interface EmailServiceOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly gates: EmailGates;
  readonly parties: PartiesService;
  readonly delivery: EmailDelivery;
  /** The user whose details fill sender fields. */
  readonly users: Pick<UsersService, 'findSignedIn'>;
}

/** Sends single emails: the answer comes after the attempt (contract, Email). */
export class EmailService {
  readonly #options: EmailServiceOptions;
  readonly #emails: EmailsStore;
  readonly #keys: IdempotencyStore;
  readonly #sources: SourcesStore;

  constructor(options: EmailServiceOptions) {
    this.#options = options;
    this.#emails = new EmailsStore(options.db);
    this.#keys = new IdempotencyStore(options.db);
    this.#sources = new SourcesStore(options.db);
  }

  /**
   * Sends what is given; nothing is merged into it. `request` is what a reused key is compared by.
   * @throws Refusal, Problem payment-required (the gates, before all else), insufficient-scope, validation-error, conflict
   */
  async send(
    caller: Caller,
    input: NewEmail,
    request: { readonly body: unknown; readonly idempotencyKey?: string | undefined },
  ): Promise<EmailAnswer> {
    requireScope(caller, 'email:send');
    await this.#options.gates.require(caller);
    const key = checkIdempotencyKey(request.idempotencyKey);
    const envelope = checkEnvelope(input);
    const content = checkContent(input);
    const templateId = checkId('template_id', input.templateId);
    if (templateId !== null && !isUuid(templateId))
      throw invalidField('template_id', 'template_id must be the id of a template.');
    const once = key === null ? null : { key, requestHash: requestHash(ROUTE, request.body) };
    const former = once === null ? null : await this.#former(caller.teamId, once);
    if (former !== null) return former;
    const parties = await this.#options.parties.resolve(caller, envelope);
    if (typeof parties === 'string') return this.#unsent(caller.teamId, once, notSent(parties));
    const { cc, bcc, brandId, preview } = envelope;
    return this.#deliver({ caller, parties, cc, bcc, brandId, preview, templateId, once, ...content });
  }

  /**
   * Sends a saved email with its fields filled in.
   * @throws Refusal, Problem payment-required (the gates, before all else), insufficient-scope, validation-error (an RCS
   * template too), not-found (no such template)
   */
  async sendTemplate(caller: Caller, input: NewTemplateEmail): Promise<EmailAnswer> {
    requireScope(caller, 'email:send');
    await this.#options.gates.require(caller);
    const envelope = checkEnvelope(input);
    const override = input.subjectOverride ?? null;
    const subject = override === null ? null : checkSubject('subject_override', override);
    const userId = checkId('merged_user_id', input.mergedUserId) ?? caller.userId;
    const template = await this.#template(caller, checkId('template_id', input.templateId));
    const user = await this.#user(caller.teamId, userId);
    if (user === null) return notSent('merged_user_id is no user of the account.');
    const parties = await this.#options.parties.resolve(caller, envelope);
    if (typeof parties === 'string') return notSent(parties);
    const sources = { contact: parties.contact, user };
    const content = {
      html: mergeHtml(template.html ?? '', sources),
      subject: lineOf(mergeText(subject ?? template.subject ?? '', sources), SUBJECT_LENGTH_MAX),
      preview:
        envelope.preview === null ? null : lineOf(mergeText(envelope.preview, sources), PREVIEW_LENGTH_MAX),
    };
    if (isTooLong(content.html)) return notSent('The email is too long after its fields were filled in.');
    if (content.subject === '') return notSent('The subject is empty after its fields were filled in.');
    const { cc, bcc, brandId } = envelope;
    const { templateId } = template;
    return this.#deliver({
      ...{ caller, parties, cc, bcc, brandId, templateId, text: null, once: null, ...content },
    });
  }

  async #deliver(draft: EmailDraft): Promise<EmailAnswer> {
    const answer = await this.#options.delivery.deliver(draft);
    if (answer !== null) return answer;
    const former = draft.once === null ? null : await this.#former(draft.caller.teamId, draft.once);
    if (former === null) throw new Error('a key that was used is gone');
    return former;
  }

  /** What a key's first request was answered, once it was; null: the key is new. @throws Problem conflict */
  async #former(teamId: string, once: Once): Promise<EmailAnswer | null> {
    const used = await this.#keys.find(teamId, once.key);
    if (used === null) return null;
    if (!used.requestHash.equals(once.requestHash)) throw keyConflict();
    if (used.emailId === null) return used.answer;
    for (let wait = 0; wait < TWIN_WAITS_MAX; wait += 1) {
      const email = await this.#emails.find(teamId, used.emailId);
      if (email === null) return notSent('The email was removed.');
      if (email.state !== 'sending') return answerOf(email);
      await new Promise((resolve) => setTimeout(resolve, TWIN_PAUSE_MS));
    }
    throw new Problem('conflict', 'The email of this Idempotency-Key is being sent still.');
  }

  /** Nothing was tried; a key remembers it all the same. */
  async #unsent(teamId: string, once: Once | null, answer: EmailAnswer): Promise<EmailAnswer> {
    if (once === null) return answer;
    const nowMs = this.#options.clock.nowMs();
    const isFirst = await this.#options.db.tx((tx) =>
      this.#keys.claim(tx, { ...once, teamId, emailId: null, answer, nowMs }),
    );
    return isFirst ? answer : ((await this.#former(teamId, once)) ?? answer);
  }

  async #template(caller: Caller, templateId: string | null): Promise<EmailTemplate> {
    if (templateId === null) throw invalidField('template_id', 'template_id is required.');
    const found = isUuid(templateId) ? await this.#sources.findTemplate(caller.teamId, templateId) : null;
    if (found === null) throw new Problem('not-found', 'There is no such template.');
    if (found.type !== 'email')
      throw invalidField('template_id', 'template_id is an RCS template: it cannot be sent by email.');
    return found;
  }

  async #user(teamId: string, userId: string): Promise<MergedUser | null> {
    const user = await this.#options.users.findSignedIn(teamId, userId);
    return user === null ? null : { name: user.displayName, email: user.email };
  }
}

const lineOf = (text: string, lengthMax: number): string => flattened(text).slice(0, lengthMax);
