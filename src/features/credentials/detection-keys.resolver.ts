import { newestFirst } from '../../kernel/keyset.ts';
import { actIn, Args, Ctx, keysetOf, Query, Resolver, TeamPageArgs } from '../../platform/graphql/index.ts';
import type { ConnectionShape, GraphContext } from '../../platform/graphql/index.ts';
import type { DetectionKeysService } from './detection-keys.service.ts';
import { DetectionKeyConnection, DetectionKeyType } from './detection-key.type.ts';
import type { DetectionKeyView } from './detection-key.type.ts';

@Resolver(() => DetectionKeyType)
export class DetectionKeysResolver {
  readonly #keys: DetectionKeysService;

  constructor(options: { detectionKeys: DetectionKeysService }) {
    this.#keys = options.detectionKeys;
  }

  @Query(() => DetectionKeyConnection, {
    nullable: true,
    description: 'Keys that are not revoked, newest first. Scope balance:read.',
  })
  async detectionKeys(
    @Ctx() context: GraphContext,
    @Args(() => TeamPageArgs) args: TeamPageArgs,
  ): Promise<ConnectionShape<DetectionKeyView>> {
    const keyset = keysetOf(args);
    const keys = await this.#keys.list(await actIn(context, args.teamId));
    const page = newestFirst(keys, keyset, (key) => ({ atMs: key.createdAtMs, id: key.keyId }));
    return new DetectionKeyConnection({ keyset, ...page, count: async () => keys.length });
  }
}
