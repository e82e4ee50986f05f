import { connectionOf, DateTime, enumOf, Field, ID, Int, ObjectType } from '../../platform/graphql/index.ts';
import type { Placed } from './contacts.query.service.ts';
import { FIELD_KINDS } from './fields.rules.ts';
import type { CustomField, FieldKind, ListItem } from './fields.rules.ts';
import { AssignedTypeEnum } from './contact.type.ts';
import type { ContactList } from './lists.rules.ts';
import type { Task } from './tasks.service.ts';

export const FieldKindEnum = enumOf('CustomFieldType', FIELD_KINDS);
export const TaskStatusEnum = enumOf('TaskStatus', ['open', 'completed']);

@ObjectType('ContactList')
export class ContactListType implements Omit<ContactList, 'name'> {
  @Field(() => ID, { name: 'id' })
  listId!: string;

  @Field(() => ID, { name: 'listId', description: "REST's name of `id`." })
  restId(): string {
    return this.listId;
  }

  @Field(() => String)
  name!: string;

  @Field(() => String, { description: "REST's name of `name`." })
  listName(): string {
    return this.name;
  }

  @Field(() => Int)
  contactCount!: number;

  @Field(() => DateTime, { name: 'createdAt' })
  createdAtMs!: number;
}

@ObjectType('ListItem')
export class ListItemType implements ListItem {
  @Field(() => ID)
  itemId!: string;

  @Field(() => String)
  displayName!: string;

  @Field(() => String)
  value!: string;
}

@ObjectType('CustomField')
export class CustomFieldType implements CustomField {
  @Field(() => ID, { name: 'id' })
  fieldId!: string;

  @Field(() => FieldKindEnum)
  type!: FieldKind;

  @Field(() => String)
  displayName!: string;

  @Field(() => String)
  slug!: string;

  @Field(() => [ListItemType], { nullable: true })
  listItems!: readonly ListItem[] | null;

  @Field(() => DateTime, { name: 'createdAt' })
  createdAtMs!: number;
}

@ObjectType('Task', { description: 'An inbox task.' })
export class TaskType implements Task {
  @Field(() => ID, { name: 'id' })
  taskId!: string;

  @Field(() => ID)
  contactId!: string;

  @Field(() => ID, { nullable: true })
  followupId!: string | null;

  @Field(() => String)
  description!: string;

  @Field(() => String)
  descriptionText!: string;

  @Field(() => ID)
  assignedTo!: string;

  @Field(() => AssignedTypeEnum)
  assignedType!: Task['assignedType'];

  @Field(() => TaskStatusEnum)
  status!: Task['status'];

  @Field(() => DateTime, { name: 'dueAt' })
  dueAtMs!: number;

  @Field(() => DateTime, { name: 'createdAt' })
  createdAtMs!: number;

  @Field(() => DateTime, { name: 'completedAt', nullable: true })
  completedAtMs!: number | null;

  @Field(() => ID, { nullable: true })
  completedBy!: string | null;
}

export const ContactListConnection = connectionOf<Placed<ContactList>>('ContactList', () => ContactListType);
export const CustomFieldConnection = connectionOf<CustomField>('CustomField', () => CustomFieldType);
export const TaskConnection = connectionOf<Task>('Task', () => TaskType);
