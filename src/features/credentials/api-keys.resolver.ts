import { newestFirst } from '../../kernel/keyset.ts';
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
import type { ApiKeysService } from './api-keys.service.ts';
import {
  ApiKeyConnection,
  CreateApiKeyInput,
  CreateApiKeyPayload,
  CreateDetectionKeyInput,
  CreateDetectionKeyPayload,
  DeleteApiKeyPayload,
  KeyIdInput,
  MintSiteTokenInput,
  MintSiteTokenPayload,
  RevokeDetectionKeyPayload,
  SetApiKeySuspendedInput,
  SetApiKeySuspendedPayload,
} from './api-key.type.ts';
import type { ApiKeyView } from './api-key.type.ts';
import type { DetectionKeyView } from './detection-key.type.ts';
import type { DetectionKeysService } from './detection-keys.service.ts';
import type { SiteToken, SiteTokens } from './site-tokens.service.ts';

type Removed = { readonly id: string };

@Resolver()
export class ApiKeysResolver {
  readonly #apiKeys: ApiKeysService;
  readonly #detectionKeys: DetectionKeysService;
  readonly #siteTokens: SiteTokens;

  constructor(options: {
    apiKeys: ApiKeysService;
    detectionKeys: DetectionKeysService;
    siteTokens: SiteTokens;
  }) {
    this.#apiKeys = options.apiKeys;
    this.#detectionKeys = options.detectionKeys;
    this.#siteTokens = options.siteTokens;
  }

  @Query(() => ApiKeyConnection, {
    nullable: true,
    description: 'Newest first, without secrets. Scope balance:read.',
  })
  async apiKeys(
    @Ctx() context: GraphContext,
    @Args(() => TeamPageArgs) args: TeamPageArgs,
  ): Promise<ConnectionShape<ApiKeyView>> {
    const keyset = keysetOf(args);
    const keys = await this.#apiKeys.list(await actIn(context, args.teamId));
    const page = newestFirst<ApiKeyView>(keys, keyset, (key) => ({ atMs: key.createdAtMs, id: key.keyId }));
    return new ApiKeyConnection({ keyset, ...page, count: async () => keys.length });
  }

  @Mutation(() => CreateApiKeyPayload, {
    nullable: true,
    description: 'The answer is the only place where the secret is shown. Scope account:write.',
  })
  async createApiKey(
    @Ctx() context: GraphContext,
    @Arg('input', () => CreateApiKeyInput) input: CreateApiKeyInput,
  ): Promise<Payload<'apiKey', ApiKeyView>> {
    const { name, scopes, expiresInSeconds } = input;
    return mutate(context, { name: 'createApiKey', field: 'apiKey', input }, (caller) =>
      this.#apiKeys.create(caller, given({ name, scopes, expiresInSeconds })),
    );
  }

  @Mutation(() => DeleteApiKeyPayload, {
    nullable: true,
    description: 'It stops working at once. Scope account:write.',
  })
  async deleteApiKey(
    @Ctx() context: GraphContext,
    @Arg('input', () => KeyIdInput) input: KeyIdInput,
  ): Promise<Payload<'apiKey', Removed>> {
    return mutate(context, { name: 'deleteApiKey', field: 'apiKey', input }, async (caller) => {
      await this.#apiKeys.delete(caller, input.id);
      return { id: input.id };
    });
  }

  @Mutation(() => SetApiKeySuspendedPayload, {
    nullable: true,
    description: 'Requests with a suspended key are refused. Operators with account:write.',
  })
  async setApiKeySuspended(
    @Ctx() context: GraphContext,
    @Arg('input', () => SetApiKeySuspendedInput) input: SetApiKeySuspendedInput,
  ): Promise<Payload<'apiKey', ApiKeyView>> {
    const { id, suspended } = input;
    return mutate(context, { name: 'setApiKeySuspended', field: 'apiKey', input }, async (caller) => {
      await this.#apiKeys.setSuspended(caller, { teamId: caller.teamId, keyId: id, suspended });
      const keys = await this.#apiKeys.list(caller);
      return keys.find((key) => key.keyId === id.toLowerCase()) as ApiKeyView;
    });
  }

  @Mutation(() => CreateDetectionKeyPayload, {
    nullable: true,
    description: 'The answer is the only place where the key is shown. Scope account:write.',
  })
  async createDetectionKey(
    @Ctx() context: GraphContext,
    @Arg('input', () => CreateDetectionKeyInput) input: CreateDetectionKeyInput,
  ): Promise<Payload<'detectionKey', Omit<DetectionKeyView, 'status'>>> {
    const { name, expiresInSeconds } = input;
    return mutate(context, { name: 'createDetectionKey', field: 'detectionKey', input }, (caller) =>
      this.#detectionKeys.create(caller, given({ name, expiresInSeconds })),
    );
  }

  @Mutation(() => RevokeDetectionKeyPayload, {
    nullable: true,
    description: 'New sessions are refused from now on. Scope account:write.',
  })
  async revokeDetectionKey(
    @Ctx() context: GraphContext,
    @Arg('input', () => KeyIdInput) input: KeyIdInput,
  ): Promise<Payload<'detectionKey', Removed>> {
    return mutate(context, { name: 'revokeDetectionKey', field: 'detectionKey', input }, async (caller) => {
      const { keyId } = await this.#detectionKeys.revoke(caller, input.id);
      return { id: keyId };
    });
  }

  @Mutation(() => MintSiteTokenPayload, {
    nullable: true,
    description: 'A short-lived token for a browser widget. Scope numbers:write.',
  })
  async mintSiteToken(
    @Ctx() context: GraphContext,
    @Arg('input', () => MintSiteTokenInput) input: MintSiteTokenInput,
  ): Promise<Payload<'siteToken', SiteToken>> {
    const { siteId, sub, scope, ttlSeconds } = input;
    return mutate(context, { name: 'mintSiteToken', field: 'siteToken', input }, (caller) =>
      this.#siteTokens.mint(caller, given({ siteId, sub, scope, ttlSeconds })),
    );
  }
}
