import { connectionOf, DateTime, enumOf, Field, ID, ObjectType } from '../../platform/graphql/index.ts';
import type { DetectionKeyStatus } from './credentials.rules.ts';
import type { DetectionKey } from './detection-keys.service.ts';

export const DetectionKeyStatusEnum = enumOf('DetectionKeyStatus', ['active', 'suspended', 'expired']);

/** A key; the key itself only from the mutation that shows it once, which tells no status. */
export type DetectionKeyView = DetectionKey & { status: DetectionKeyStatus; apiKey?: string };

@ObjectType('DetectionKey')
export class DetectionKeyType implements DetectionKeyView {
  @Field(() => ID, { name: 'id' })
  keyId!: string;

  @Field(() => String)
  name!: string;

  @Field(() => String, { description: 'The last 4 characters of the key.' })
  keyHint!: string;

  @Field(() => String, { nullable: true, description: 'The key: only in the answer that makes it.' })
  apiKey?: string;

  @Field(() => DetectionKeyStatusEnum, { nullable: true, description: 'Not in the answer that makes it.' })
  status!: DetectionKeyStatus;

  @Field(() => DateTime, { name: 'createdAt' })
  createdAtMs!: number;

  @Field(() => DateTime, { name: 'expiresAt', nullable: true })
  expiresAtMs!: number | null;
}

export const DetectionKeyConnection = connectionOf<DetectionKeyView>('DetectionKey', () => DetectionKeyType);
