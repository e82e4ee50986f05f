import type { Caller } from '../../kernel/caller.ts';
import { Arg, Ctx, given, mutate, Mutation, Resolver } from '../../platform/graphql/index.ts';
import type { GraphContext, Payload } from '../../platform/graphql/index.ts';
import type { DeliveriesLogService } from './deliveries-log.service.ts';
import type { Subscription, SubscriptionsService, TestAnswer } from './subscriptions.service.ts';
import type { WebhookView } from './webhook.graph.type.ts';
import {
  CreateWebhookInput,
  CreateWebhookPayload,
  DeleteWebhookPayload,
  ReplayDeliveryInput,
  ReplayDeliveryPayload,
  ReplayRangeInput,
  ReplayRangePayload,
  RotateWebhookSecretPayload,
  TestWebhookPayload,
  UpdateWebhookInput,
  UpdateWebhookPayload,
  WebhookIdInput,
} from './webhook.input.type.ts';

export interface WebhookMutationServices {
  readonly webhooks: SubscriptionsService;
  readonly webhookDeliveries: DeliveriesLogService;
}

type RotatedSecret = Awaited<ReturnType<SubscriptionsService['rotateSecret']>>;
type ReplayedDelivery = Awaited<ReturnType<DeliveriesLogService['replay']>>;

const viewOf = (caller: Caller, subscription: Subscription & { signingSecret?: string }): WebhookView => ({
  ...subscription,
  teamId: caller.teamId,
});

@Resolver()
export class WebhooksMutationResolver {
  readonly #services: WebhookMutationServices;

  constructor(services: WebhookMutationServices) {
    this.#services = services;
  }

  @Mutation(() => CreateWebhookPayload, {
    nullable: true,
    description: 'The answer shows the signing secret once. Scope webhooks:write.',
  })
  async createWebhook(
    @Ctx() context: GraphContext,
    @Arg('input', () => CreateWebhookInput) input: CreateWebhookInput,
  ): Promise<Payload<'webhook', WebhookView>> {
    const { hookUrl, eventTypes, name } = input;
    return mutate(context, { name: 'createWebhook', field: 'webhook', input }, async (caller) => {
      const made = await this.#services.webhooks.create(caller, {
        hookUrl,
        eventTypes,
        ...given({ name }),
      });
      return viewOf(caller, made);
    });
  }

  @Mutation(() => UpdateWebhookPayload, { nullable: true, description: 'Scope webhooks:write.' })
  async updateWebhook(
    @Ctx() context: GraphContext,
    @Arg('input', () => UpdateWebhookInput) input: UpdateWebhookInput,
  ): Promise<Payload<'webhook', WebhookView>> {
    const { hookUrl, eventTypes, name } = input;
    return mutate(context, { name: 'updateWebhook', field: 'webhook', input }, async (caller) => {
      const change = given({ hookUrl, eventTypes, name });
      return viewOf(caller, await this.#services.webhooks.update(caller, input.id, change));
    });
  }

  @Mutation(() => DeleteWebhookPayload, { nullable: true, description: 'Scope webhooks:write.' })
  async deleteWebhook(
    @Ctx() context: GraphContext,
    @Arg('input', () => WebhookIdInput) input: WebhookIdInput,
  ): Promise<Payload<'webhook', { id: string }>> {
    return mutate(context, { name: 'deleteWebhook', field: 'webhook', input }, async (caller) => {
      await this.#services.webhooks.remove(caller, input.id);
      return { id: input.id };
    });
  }

  @Mutation(() => RotateWebhookSecretPayload, {
    nullable: true,
    description: 'The former secret signs nothing any more. Scope webhooks:write.',
  })
  async rotateWebhookSecret(
    @Ctx() context: GraphContext,
    @Arg('input', () => WebhookIdInput) input: WebhookIdInput,
  ): Promise<Payload<'webhook', RotatedSecret>> {
    return mutate(context, { name: 'rotateWebhookSecret', field: 'webhook', input }, (caller) =>
      this.#services.webhooks.rotateSecret(caller, input.id),
    );
  }

  @Mutation(() => TestWebhookPayload, {
    nullable: true,
    description: 'Posts a sample event and tells what came back. Scope webhooks:write.',
  })
  async testWebhook(
    @Ctx() context: GraphContext,
    @Arg('input', () => WebhookIdInput) input: WebhookIdInput,
  ): Promise<Payload<'test', TestAnswer>> {
    return mutate(context, { name: 'testWebhook', field: 'test', input }, (caller) =>
      this.#services.webhooks.test(caller, input.id),
    );
  }

  @Mutation(() => ReplayDeliveryPayload, {
    nullable: true,
    description: 'Delivers an event again, as a delivery of its own. Scope webhooks:write.',
  })
  async replayWebhookDelivery(
    @Ctx() context: GraphContext,
    @Arg('input', () => ReplayDeliveryInput) input: ReplayDeliveryInput,
  ): Promise<Payload<'delivery', ReplayedDelivery>> {
    return mutate(context, { name: 'replayWebhookDelivery', field: 'delivery', input }, (caller) =>
      this.#services.webhookDeliveries.replay(caller, input.webhookId, input.id),
    );
  }

  @Mutation(() => ReplayRangePayload, {
    nullable: true,
    description: 'Delivers again what was recorded in a time range. Scope webhooks:write.',
  })
  async replayWebhookRange(
    @Ctx() context: GraphContext,
    @Arg('input', () => ReplayRangeInput) input: ReplayRangeInput,
  ): Promise<Payload<'replay', { replayed: number }>> {
    const range = { fromMs: input.from, toMs: input.to };
    return mutate(context, { name: 'replayWebhookRange', field: 'replay', input }, (caller) =>
      this.#services.webhookDeliveries.replayRange(caller, input.webhookId, range),
    );
  }
}
