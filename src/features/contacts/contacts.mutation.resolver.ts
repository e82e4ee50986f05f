import type { Caller } from '../../kernel/caller.ts';
import { requireScope } from '../../kernel/caller.ts';
import { Problem } from '../../kernel/problem.ts';
import { Arg, Ctx, given, mutate, Mutation, Resolver } from '../../platform/graphql/index.ts';
import type { GraphContext, Payload } from '../../platform/graphql/index.ts';
import type { AccountGates } from '../accounts/index.ts';
import {
  AddContactTagPayload,
  ContactIdInput,
  ContactTagInput,
  CreateContactInput,
  CreateContactPayload,
  DeleteContactPayload,
  ImportContactsInput,
  ImportContactsPayload,
  RemoveContactTagPayload,
  SetDispositionInput,
  SetDispositionPayload,
  SetOwnerInput,
  SetOwnerPayload,
  UpdateContactInput,
  UpdateContactPayload,
} from './contact.input.type.ts';
import type { ContactValuesInput } from './contact.input.type.ts';
import type { Contact } from './contacts.row.ts';
import type { ContactsService } from './contacts.service.ts';
import type { ChangeInput } from './contacts.change.rules.ts';
import type { ImportResult, ImportService } from './import.service.ts';
import type { AroundContacts } from './surroundings.ts';

export interface ContactMutationServices extends Pick<
  AroundContacts,
  'contactTags' | 'owners' | 'dispositions'
> {
  readonly contacts: ContactsService;
  readonly contactImport: ImportService;
  readonly gates: Pick<AccountGates, 'requirePaid'>;
}

type ContactPayload = Promise<Payload<'contact', Contact>>;

@Resolver()
export class ContactsMutationResolver {
  readonly #services: ContactMutationServices;

  constructor(services: ContactMutationServices) {
    this.#services = services;
  }

  @Mutation(() => CreateContactPayload, {
    nullable: true,
    description: 'A contact with the same phone or email is filled up instead. Scope contacts:write.',
  })
  async createContact(
    @Ctx() context: GraphContext,
    @Arg('input', () => CreateContactInput) input: CreateContactInput,
  ): ContactPayload {
    const { listIds, conflictMode, region } = input;
    const { contactImport, gates } = this.#services;
    return mutate(context, { name: 'createContact', field: 'contact', input }, async (caller) => {
      requireScope(caller, 'contacts:write');
      await gates.requirePaid(caller);
      const options = given({ listIds, conflictMode, region });
      const { inserted, updated, rejected } = await contactImport.create(caller, {
        ...valuesOf(input),
        ...options,
      });
      const [contactId] = [...inserted, ...updated];
      if (contactId === undefined) throw rejectedProblem(rejected[0]?.reasons ?? []);
      return this.#written(caller, contactId);
    });
  }

  @Mutation(() => ImportContactsPayload, {
    nullable: true,
    description: 'Rows of contacts, as many as a request holds; REST takes 10,000. Scope contacts:write.',
  })
  async importContacts(
    @Ctx() context: GraphContext,
    @Arg('input', () => ImportContactsInput) input: ImportContactsInput,
  ): Promise<Payload<'import', ImportResult>> {
    const { fields, values, listIds, region, conflictMode } = input;
    const { contactImport, gates } = this.#services;
    return mutate(context, { name: 'importContacts', field: 'import', input }, async (caller) => {
      requireScope(caller, 'contacts:write');
      await gates.requirePaid(caller);
      return contactImport.run(caller, { fields, values, ...given({ listIds, region, conflictMode }) });
    });
  }

  @Mutation(() => UpdateContactPayload, {
    nullable: true,
    description: 'Sets what is given; null takes a value away. Scope contacts:write.',
  })
  async updateContact(
    @Ctx() context: GraphContext,
    @Arg('input', () => UpdateContactInput) input: UpdateContactInput,
  ): ContactPayload {
    const { region } = input;
    return mutate(context, { name: 'updateContact', field: 'contact', input }, async (caller) => {
      const change = { ...valuesOf(input), ...given({ region }) };
      return this.#written(caller, await this.#services.contacts.update(caller, input.id, change));
    });
  }

  @Mutation(() => DeleteContactPayload, {
    nullable: true,
    description: 'With all that belongs to it. Scope contacts:write.',
  })
  async deleteContact(
    @Ctx() context: GraphContext,
    @Arg('input', () => ContactIdInput) input: ContactIdInput,
  ): Promise<Payload<'contact', { id: string }>> {
    return mutate(context, { name: 'deleteContact', field: 'contact', input }, async (caller) => ({
      id: await this.#services.contacts.remove(caller, input.id),
    }));
  }

  @Mutation(() => AddContactTagPayload, { nullable: true, description: 'Scope contacts:write.' })
  async addContactTag(
    @Ctx() context: GraphContext,
    @Arg('input', () => ContactTagInput) input: ContactTagInput,
  ): ContactPayload {
    const { contactId, tagId } = input;
    return mutate(context, { name: 'addContactTag', field: 'contact', input }, async (caller) => {
      await this.#services.contactTags.add(caller, contactId, tagId);
      return this.#written(caller, contactId);
    });
  }

  @Mutation(() => RemoveContactTagPayload, { nullable: true, description: 'Scope contacts:write.' })
  async removeContactTag(
    @Ctx() context: GraphContext,
    @Arg('input', () => ContactTagInput) input: ContactTagInput,
  ): ContactPayload {
    const { contactId, tagId } = input;
    return mutate(context, { name: 'removeContactTag', field: 'contact', input }, async (caller) => {
      await this.#services.contactTags.remove(caller, contactId, tagId);
      return this.#written(caller, contactId);
    });
  }

  @Mutation(() => SetOwnerPayload, { nullable: true, description: 'Scope contacts:write.' })
  async setContactOwner(
    @Ctx() context: GraphContext,
    @Arg('input', () => SetOwnerInput) input: SetOwnerInput,
  ): ContactPayload {
    return mutate(context, { name: 'setContactOwner', field: 'contact', input }, (caller) =>
      this.#services.owners.change(caller, input.contactId, input.ownerId),
    );
  }

  @Mutation(() => SetDispositionPayload, { nullable: true, description: 'Scope contacts:write.' })
  async setContactDisposition(
    @Ctx() context: GraphContext,
    @Arg('input', () => SetDispositionInput) input: SetDispositionInput,
  ): ContactPayload {
    return mutate(context, { name: 'setContactDisposition', field: 'contact', input }, (caller) =>
      this.#services.dispositions.change(caller, input.contactId, input.dispositionId),
    );
  }

  /** The record as it was written: who may change a contact sees what became of it (contract, Contact details). */
  async #written(caller: Caller, contactId: string): Promise<Contact> {
    const reader = { ...caller, scopes: new Set([...caller.scopes, 'contacts:read' as const]) };
    return this.#services.contacts.get(reader, contactId);
  }
}

/** Values under the names of import types, which the record's own names are in snake_case. */
function valuesOf(input: ContactValuesInput): ChangeInput {
  const { uid, firstName, lastName, email, phoneNumber, mainPhone, mobilePhone, company } = input;
  const { address1, address2, city, state, postal, country, fieldData } = input;
  const named = {
    ...{ uid, first_name: firstName, last_name: lastName, email, phone_number: phoneNumber, company },
    ...{ main_phone: mainPhone, mobile_phone: mobilePhone, address1, address2, city, state, postal, country },
  };
  return {
    named: Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined)),
    fieldData: fieldData?.map(({ type, value }) => ({ type, value: value ?? null })),
  };
}

const rejectedProblem = (reasons: readonly string[]): Problem =>
  new Problem('validation-error', reasons.join(' ') || 'The contact was rejected.');
