import {
  connectionOf,
  DateTime,
  Field,
  ID,
  InputType,
  Int,
  ObjectType,
  payloadOf,
  RemovedType,
  TeamMutationInput,
} from '../../platform/graphql/index.ts';
import type { Tag } from './tags.service.ts';

@ObjectType('Tag')
export class TagType implements Omit<Tag, 'isSeed' | 'deletedAtMs' | 'deletedBy'> {
  @Field(() => ID, { name: 'id' })
  tagId!: string;

  @Field(() => ID, { name: 'tagId', description: "REST's name of `id`." })
  restId(): string {
    return this.tagId;
  }

  @Field(() => String)
  label!: string;

  @Field(() => String, { nullable: true })
  color!: string | null;

  @Field(() => String, { nullable: true })
  textColor!: string | null;

  @Field(() => DateTime, { name: 'createdAt' })
  createdAtMs!: number;

  @Field(() => ID)
  createdBy!: string;

  @Field(() => DateTime, { name: 'updatedAt' })
  updatedAtMs!: number;

  @Field(() => ID, { nullable: true })
  updatedBy!: string | null;
}

@InputType('CreateTagInput')
export class CreateTagInput extends TeamMutationInput {
  @Field(() => String)
  label!: string;

  @Field(() => String, { nullable: true, description: '#rgb or #rrggbb.' })
  color?: string | null;

  @Field(() => String, { nullable: true, description: '#rgb or #rrggbb.' })
  textColor?: string | null;
}

@InputType('UpdateTagInput')
export class UpdateTagInput extends CreateTagInput {
  @Field(() => ID)
  id!: string;
}

@InputType('DeleteTagInput')
export class DeleteTagInput extends TeamMutationInput {
  @Field(() => ID)
  id!: string;
}

@InputType('DeleteTagsInput')
export class DeleteTagsInput extends TeamMutationInput {
  @Field(() => [ID])
  ids!: string[];
}

@ObjectType('TagsDeletion')
export class TagsDeletionType {
  @Field(() => Int, { name: 'matchedCount' })
  matched!: number;

  @Field(() => Int, { name: 'modifiedCount' })
  modified!: number;
}

export const TagConnection = connectionOf<Tag>('Tag', () => TagType);
export const CreateTagPayload = payloadOf('CreateTagPayload', 'tag', () => TagType);
export const UpdateTagPayload = payloadOf('UpdateTagPayload', 'tag', () => TagType);
export const DeleteTagPayload = payloadOf('DeleteTagPayload', 'tag', () => RemovedType);
export const DeleteTagsPayload = payloadOf('DeleteTagsPayload', 'deletion', () => TagsDeletionType);
