import { requireScope } from '../../kernel/caller.ts';
import { newestFirst } from '../../kernel/keyset.ts';
import { invalidField } from '../../kernel/text.ts';
import {
  actIn,
  Arg,
  Args,
  Ctx,
  given,
  keysetOf,
  mutate,
  Mutation,
  Query,
  Resolver,
  TeamPageArgs,
} from '../../platform/graphql/index.ts';
import type { ConnectionShape, GraphContext, Payload } from '../../platform/graphql/index.ts';
import type { Brand } from './brands/brands.store.ts';
import type { Line } from './lines/lines.store.ts';
import type { Lookups } from './lookups.ts';
import {
  BrandConnection,
  CreateBrandInput,
  CreateBrandPayload,
  CreateLineInput,
  CreateLinePayload,
  CreateTemplateInput,
  CreateTemplatePayload,
  DeleteLinePayload,
  DeleteMediaPayload,
  DeleteTemplatePayload,
  LineConnection,
  LookupIdInput,
  SetBrandRegistrationInput,
  SetBrandRegistrationPayload,
  UpdateBrandInput,
  UpdateBrandPayload,
  UpdateLineInput,
  UpdateLinePayload,
  UpdateTemplateInput,
  UpdateTemplatePayload,
} from './lookups.type.ts';
import type { NewTemplate } from './templates/templates.rules.ts';
import type { Template } from './templates/templates.store.ts';

type Removed = { readonly id: string };

/** What sends are made from: brands, lines, templates, media. Files come and go by REST. */
@Resolver()
export class LookupsResolver {
  readonly #lookups: Pick<Lookups, 'brands' | 'lines' | 'templates' | 'media'>;

  constructor(options: { lookups: Pick<Lookups, 'brands' | 'lines' | 'templates' | 'media'> }) {
    this.#lookups = options.lookups;
  }

  @Query(() => BrandConnection, { nullable: true, description: 'Newest first. Scope numbers:read.' })
  async brands(
    @Ctx() context: GraphContext,
    @Args(() => TeamPageArgs) args: TeamPageArgs,
  ): Promise<ConnectionShape<Brand>> {
    const keyset = keysetOf(args);
    const brands = await this.#lookups.brands.list(await actIn(context, args.teamId));
    const page = newestFirst(brands, keyset, (one) => ({ atMs: one.createdAtMs, id: one.brandId }));
    return new BrandConnection({ keyset, ...page, count: async () => brands.length });
  }

  @Query(() => LineConnection, { nullable: true, description: 'Newest first. Scope numbers:read.' })
  async lines(
    @Ctx() context: GraphContext,
    @Args(() => TeamPageArgs) args: TeamPageArgs,
  ): Promise<ConnectionShape<Line>> {
    const keyset = keysetOf(args);
    const lines = await this.#lookups.lines.list(await actIn(context, args.teamId));
    const page = newestFirst(lines, keyset, (one) => ({ atMs: one.createdAtMs, id: one.lineId }));
    return new LineConnection({ keyset, ...page, count: async () => lines.length });
  }

  @Mutation(() => CreateBrandPayload, { nullable: true, description: 'Scope numbers:write.' })
  async createBrand(
    @Ctx() context: GraphContext,
    @Arg('input', () => CreateBrandInput) input: CreateBrandInput,
  ): Promise<Payload<'brand', Brand>> {
    const { companyName, dbaName } = input;
    return mutate(context, { name: 'createBrand', field: 'brand', input }, (caller) =>
      this.#lookups.brands.create(caller, { companyName, ...given({ dbaName }) }),
    );
  }

  @Mutation(() => UpdateBrandPayload, { nullable: true, description: 'Scope numbers:write.' })
  async updateBrand(
    @Ctx() context: GraphContext,
    @Arg('input', () => UpdateBrandInput) input: UpdateBrandInput,
  ): Promise<Payload<'brand', Brand>> {
    const { companyName, dbaName } = input;
    return mutate(context, { name: 'updateBrand', field: 'brand', input }, (caller) =>
      this.#lookups.brands.update(caller, input.id, {
        ...given({ companyName }),
        ...(dbaName === undefined ? {} : { dbaName }),
      }),
    );
  }

  @Mutation(() => SetBrandRegistrationPayload, {
    nullable: true,
    description: "What the carrier's registry decided. Operators with account:write.",
  })
  async setBrandRegistration(
    @Ctx() context: GraphContext,
    @Arg('input', () => SetBrandRegistrationInput) input: SetBrandRegistrationInput,
  ): Promise<Payload<'brand', Brand>> {
    const { registered, apiAllowed, textingCampaignStatus } = input;
    return mutate(context, { name: 'setBrandRegistration', field: 'brand', input }, (caller) =>
      this.#lookups.brands.setRegistration(caller, input.id, {
        ...{ registered, apiAllowed, textingCampaignStatus },
      }),
    );
  }

  @Mutation(() => CreateLinePayload, { nullable: true, description: 'Scope numbers:write.' })
  async createLine(
    @Ctx() context: GraphContext,
    @Arg('input', () => CreateLineInput) input: CreateLineInput,
  ): Promise<Payload<'line', Line>> {
    const { name, type, isDefault, brandId } = input;
    return mutate(context, { name: 'createLine', field: 'line', input }, (caller) =>
      this.#lookups.lines.create(caller, { name, type, ...given({ isDefault, brandId }) }),
    );
  }

  @Mutation(() => UpdateLinePayload, { nullable: true, description: 'Scope numbers:write.' })
  async updateLine(
    @Ctx() context: GraphContext,
    @Arg('input', () => UpdateLineInput) input: UpdateLineInput,
  ): Promise<Payload<'line', Line>> {
    const { name, isDefault, brandId } = input;
    return mutate(context, { name: 'updateLine', field: 'line', input }, (caller) =>
      this.#lookups.lines.update(caller, input.id, {
        ...given({ name, isDefault }),
        ...(brandId === undefined ? {} : { brandId }),
      }),
    );
  }

  @Mutation(() => DeleteLinePayload, { nullable: true, description: 'Scope numbers:write.' })
  async deleteLine(
    @Ctx() context: GraphContext,
    @Arg('input', () => LookupIdInput) input: LookupIdInput,
  ): Promise<Payload<'line', Removed>> {
    return mutate(context, { name: 'deleteLine', field: 'line', input }, async (caller) => ({
      id: (await this.#lookups.lines.remove(caller, input.id)).lineId,
    }));
  }

  @Mutation(() => CreateTemplatePayload, { nullable: true, description: 'Scope contacts:write.' })
  async createTemplate(
    @Ctx() context: GraphContext,
    @Arg('input', () => CreateTemplateInput) input: CreateTemplateInput,
  ): Promise<Payload<'template', Template>> {
    return mutate(context, { name: 'createTemplate', field: 'template', input }, async (caller) => {
      requireScope(caller, 'contacts:write');
      return this.#lookups.templates.create(caller, newTemplate(input));
    });
  }

  @Mutation(() => UpdateTemplatePayload, { nullable: true, description: 'Scope contacts:write.' })
  async updateTemplate(
    @Ctx() context: GraphContext,
    @Arg('input', () => UpdateTemplateInput) input: UpdateTemplateInput,
  ): Promise<Payload<'template', Template>> {
    const { name, subject, html, rcsContent } = input;
    return mutate(context, { name: 'updateTemplate', field: 'template', input }, (caller) =>
      this.#lookups.templates.update(caller, input.id, given({ name, subject, html, rcsContent })),
    );
  }

  @Mutation(() => DeleteTemplatePayload, { nullable: true, description: 'Scope contacts:write.' })
  async deleteTemplate(
    @Ctx() context: GraphContext,
    @Arg('input', () => LookupIdInput) input: LookupIdInput,
  ): Promise<Payload<'template', Removed>> {
    return mutate(context, { name: 'deleteTemplate', field: 'template', input }, async (caller) => ({
      id: (await this.#lookups.templates.remove(caller, input.id)).templateId,
    }));
  }

  @Mutation(() => DeleteMediaPayload, { nullable: true, description: 'Scope media:write.' })
  async deleteMedia(
    @Ctx() context: GraphContext,
    @Arg('input', () => LookupIdInput) input: LookupIdInput,
  ): Promise<Payload<'media', Removed>> {
    return mutate(context, { name: 'deleteMedia', field: 'media', input }, async (caller) => ({
      id: (await this.#lookups.media.remove(caller, input.id)).mediaId,
    }));
  }
}

/** @throws Problem validation-error */
function newTemplate({ type, name, subject, html, rcsContent }: CreateTemplateInput): NewTemplate {
  if (type === 'email') {
    if (subject == null) throw invalidField('subject', 'A template of type EMAIL needs a subject.');
    if (html == null) throw invalidField('html', 'A template of type EMAIL needs html.');
    return { type, name, subject, html };
  }
  if (rcsContent == null) throw invalidField('rcs_content', 'A template of type RCS needs rcsContent.');
  return { type, name, rcsContent };
}
