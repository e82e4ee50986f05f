import { PLAY_PLAN_PARAMETER, signPlayPlan } from '../carriers/index.ts';
import type { CallRequest, PlayPlan } from '../carriers/index.ts';

export interface CallStreamOptions {
  /** DETECT_URL. */
  readonly detectUrl: () => string;
  /** PLATFORM_NAME. */
  readonly platform: string;
  /** The current MASTER_KEY. */
  readonly masterKey: Buffer;
}

/** Streams of calls that hear: the platform route of the gateway, with the plan of what to play signed. */
export const createCallStreams =
  ({ detectUrl, platform, masterKey }: CallStreamOptions) =>
  (plan: PlayPlan): CallRequest['stream'] => ({
    url: `${detectUrl()}/carrier/ws/${platform}`,
    parameters: { [PLAY_PLAN_PARAMETER]: signPlayPlan(plan, masterKey) },
  });
