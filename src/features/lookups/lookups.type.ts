import {
  connectionOf,
  DateTime,
  enumOf,
  Field,
  ID,
  InputType,
  Json,
  ObjectType,
  payloadOf,
  RemovedType,
  TeamMutationInput,
} from '../../platform/graphql/index.ts';
import type { TextingCampaignStatus } from './brands/brands.rules.ts';
import type { Brand } from './brands/brands.store.ts';
import type { Line } from './lines/lines.store.ts';
import type { RcsContent, TemplateType } from './templates/templates.rules.ts';
import { TEMPLATE_TYPES } from './templates/templates.rules.ts';
import type { Template } from './templates/templates.store.ts';

const LineTypeEnum = enumOf('LineType', ['voice', 'sms']);
const CampaignStatusEnum = enumOf('TextingCampaignStatus', ['none', 'pending', 'approved', 'rejected']);
export const TemplateTypeEnum = enumOf('TemplateType', TEMPLATE_TYPES);

@ObjectType('Brand')
export class BrandType implements Brand {
  @Field(() => ID, { name: 'id' })
  brandId!: string;

  @Field(() => String)
  companyName!: string;

  @Field(() => String, { nullable: true })
  dbaName!: string | null;

  @Field(() => Boolean)
  registered!: boolean;

  @Field(() => Boolean)
  apiAllowed!: boolean;

  @Field(() => CampaignStatusEnum)
  textingCampaignStatus!: Brand['textingCampaignStatus'];

  @Field(() => DateTime, { name: 'createdAt' })
  createdAtMs!: number;

  @Field(() => DateTime, { name: 'updatedAt' })
  updatedAtMs!: number;
}

@ObjectType('PhoneLine')
export class LineType implements Line {
  @Field(() => ID, { name: 'id' })
  lineId!: string;

  @Field(() => String)
  name!: string;

  @Field(() => LineTypeEnum)
  type!: Line['type'];

  @Field(() => Boolean)
  isDefault!: boolean;

  @Field(() => ID, { nullable: true })
  brandId!: string | null;

  @Field(() => DateTime, { name: 'createdAt' })
  createdAtMs!: number;
}

@ObjectType('Template')
export class TemplateObjectType implements Template {
  @Field(() => ID, { name: 'id' })
  templateId!: string;

  @Field(() => TemplateTypeEnum)
  type!: TemplateType;

  @Field(() => String)
  name!: string;

  @Field(() => String, { nullable: true })
  subject!: string | null;

  @Field(() => String, { nullable: true })
  html!: string | null;

  @Field(() => Json, { nullable: true })
  rcsContent!: RcsContent | null;

  @Field(() => DateTime, { name: 'createdAt' })
  createdAtMs!: number;

  @Field(() => DateTime, { name: 'updatedAt' })
  updatedAtMs!: number;
}

@InputType('CreateBrandInput')
export class CreateBrandInput extends TeamMutationInput {
  @Field(() => String)
  companyName!: string;

  @Field(() => String, { nullable: true })
  dbaName?: string | null;
}

@InputType('UpdateBrandInput')
export class UpdateBrandInput extends TeamMutationInput {
  @Field(() => ID)
  id!: string;

  @Field(() => String, { nullable: true })
  companyName?: string | null;

  @Field(() => String, { nullable: true, description: 'Null takes it away.' })
  dbaName?: string | null;
}

@InputType('SetBrandRegistrationInput')
export class SetBrandRegistrationInput extends TeamMutationInput {
  @Field(() => ID)
  id!: string;

  @Field(() => Boolean)
  registered!: boolean;

  @Field(() => Boolean, { description: 'Whether version 1 may name it.' })
  apiAllowed!: boolean;

  @Field(() => CampaignStatusEnum, { description: 'Texts leave when it is approved.' })
  textingCampaignStatus!: TextingCampaignStatus;
}

@InputType('CreateLineInput')
export class CreateLineInput extends TeamMutationInput {
  @Field(() => String)
  name!: string;

  @Field(() => LineTypeEnum)
  type!: Line['type'];

  @Field(() => Boolean, { nullable: true })
  isDefault?: boolean | null;

  @Field(() => ID, { nullable: true })
  brandId?: string | null;
}

@InputType('UpdateLineInput')
export class UpdateLineInput extends TeamMutationInput {
  @Field(() => ID)
  id!: string;

  @Field(() => String, { nullable: true })
  name?: string | null;

  @Field(() => Boolean, { nullable: true })
  isDefault?: boolean | null;

  @Field(() => ID, { nullable: true, description: 'Null takes it away.' })
  brandId?: string | null;
}

@InputType('LookupIdInput')
export class LookupIdInput extends TeamMutationInput {
  @Field(() => ID)
  id!: string;
}

@InputType()
class TemplateContentInput extends TeamMutationInput {
  @Field(() => String, { nullable: true, description: 'Of a template of type EMAIL.' })
  subject?: string | null;

  @Field(() => String, { nullable: true, description: 'Of a template of type EMAIL.' })
  html?: string | null;

  @Field(() => Json, { nullable: true, description: 'Of a template of type RCS.' })
  rcsContent?: RcsContent | null;
}

@InputType('CreateTemplateInput')
export class CreateTemplateInput extends TemplateContentInput {
  @Field(() => TemplateTypeEnum)
  type!: TemplateType;

  @Field(() => String)
  name!: string;
}

@InputType('UpdateTemplateInput')
export class UpdateTemplateInput extends TemplateContentInput {
  @Field(() => ID)
  id!: string;

  @Field(() => String, { nullable: true })
  name?: string | null;
}

export const BrandConnection = connectionOf<Brand>('Brand', () => BrandType);
export const LineConnection = connectionOf<Line>('PhoneLine', () => LineType);
export const CreateBrandPayload = payloadOf('CreateBrandPayload', 'brand', () => BrandType);
export const UpdateBrandPayload = payloadOf('UpdateBrandPayload', 'brand', () => BrandType);
export const SetBrandRegistrationPayload = payloadOf('SetBrandRegistrationPayload', 'brand', () => BrandType);
export const CreateLinePayload = payloadOf('CreateLinePayload', 'line', () => LineType);
export const UpdateLinePayload = payloadOf('UpdateLinePayload', 'line', () => LineType);
export const DeleteLinePayload = payloadOf('DeleteLinePayload', 'line', () => RemovedType);
export const CreateTemplatePayload = payloadOf('CreateTemplatePayload', 'template', () => TemplateObjectType);
export const UpdateTemplatePayload = payloadOf('UpdateTemplatePayload', 'template', () => TemplateObjectType);
export const DeleteTemplatePayload = payloadOf('DeleteTemplatePayload', 'template', () => RemovedType);
export const DeleteMediaPayload = payloadOf('DeleteMediaPayload', 'media', () => RemovedType);
