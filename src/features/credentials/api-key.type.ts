import type { Scope } from '../../kernel/caller.ts';
import {
  connectionOf,
  DateTime,
  Field,
  Float,
  ID,
  InputType,
  Int,
  ObjectType,
  payloadOf,
  RemovedType,
  ScopeEnum,
  TeamMutationInput,
} from '../../platform/graphql/index.ts';
import type { ApiKey } from './api-keys.service.ts';
import { DetectionKeyType } from './detection-key.type.ts';

/** An API key; the secret only from the mutation that shows it once. */
export type ApiKeyView = Omit<ApiKey, 'suspended' | 'lastUsedAtMs' | 'requestCount'> &
  Partial<Pick<ApiKey, 'suspended' | 'lastUsedAtMs' | 'requestCount'>> & { secret?: string };

@ObjectType('ApiKey')
export class ApiKeyType {
  @Field(() => ID, { name: 'id' })
  keyId!: string;

  @Field(() => String)
  name!: string;

  @Field(() => String, { description: 'Sent as x-key.' })
  key!: string;

  @Field(() => String, { nullable: true, description: 'Only in the answer that makes it.' })
  secret?: string;

  @Field(() => String)
  type!: string;

  @Field(() => [ScopeEnum])
  scopes!: readonly Scope[];

  @Field(() => String, { nullable: true })
  mcpClient!: string | null;

  @Field(() => Boolean, { nullable: true })
  suspended?: boolean;

  @Field(() => DateTime, { name: 'createdAt' })
  createdAtMs!: number;

  @Field(() => DateTime, { name: 'expiresAt', nullable: true })
  expiresAtMs!: number | null;

  @Field(() => DateTime, { name: 'lastUsedAt', nullable: true })
  lastUsedAtMs?: number | null;

  @Field(() => Float, { nullable: true, description: 'Authenticated requests made with it.' })
  requestCount?: number;
}

@InputType('CreateApiKeyInput')
export class CreateApiKeyInput extends TeamMutationInput {
  @Field(() => String, { nullable: true })
  name?: string | null;

  @Field(() => [ScopeEnum], {
    nullable: true,
    description: 'Omitted: those of the credential that makes it.',
  })
  scopes?: Scope[] | null;

  @Field(() => Int, { nullable: true, description: 'Omitted: never expires.' })
  expiresInSeconds?: number | null;
}

@InputType('KeyIdInput')
export class KeyIdInput extends TeamMutationInput {
  @Field(() => ID)
  id!: string;
}

@InputType('SetApiKeySuspendedInput')
export class SetApiKeySuspendedInput extends KeyIdInput {
  @Field(() => Boolean)
  suspended!: boolean;
}

@InputType('CreateDetectionKeyInput')
export class CreateDetectionKeyInput extends TeamMutationInput {
  @Field(() => String, { nullable: true })
  name?: string | null;

  @Field(() => Int, { nullable: true, description: 'Omitted: never expires.' })
  expiresInSeconds?: number | null;
}

@InputType('MintSiteTokenInput')
export class MintSiteTokenInput extends TeamMutationInput {
  @Field(() => String, { nullable: true })
  siteId?: string | null;

  @Field(() => String, { nullable: true, description: "The caller's own id of the visitor." })
  sub?: string | null;

  @Field(() => [String], { nullable: true, description: 'Omitted: dialer:webrtc.' })
  scope?: string[] | null;

  @Field(() => Int, { nullable: true, description: 'At most 3600, which is the default.' })
  ttlSeconds?: number | null;
}

@ObjectType('SiteToken')
export class SiteTokenType {
  @Field(() => String)
  token!: string;

  @Field(() => ID)
  jti!: string;

  @Field(() => DateTime, { name: 'expiresAt' })
  expiresAtMs!: number;

  @Field(() => ID, { nullable: true, description: "The account's carrier connection." })
  poolId!: string | null;
}

export const ApiKeyConnection = connectionOf<ApiKeyView>('ApiKey', () => ApiKeyType);
export const CreateApiKeyPayload = payloadOf('CreateApiKeyPayload', 'apiKey', () => ApiKeyType);
export const DeleteApiKeyPayload = payloadOf('DeleteApiKeyPayload', 'apiKey', () => RemovedType);
export const SetApiKeySuspendedPayload = payloadOf('SetApiKeySuspendedPayload', 'apiKey', () => ApiKeyType);
export const CreateDetectionKeyPayload = payloadOf(
  'CreateDetectionKeyPayload',
  'detectionKey',
  () => DetectionKeyType,
);
export const RevokeDetectionKeyPayload = payloadOf(
  'RevokeDetectionKeyPayload',
  'detectionKey',
  () => RemovedType,
);
export const MintSiteTokenPayload = payloadOf('MintSiteTokenPayload', 'siteToken', () => SiteTokenType);
