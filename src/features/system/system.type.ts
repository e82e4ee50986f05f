import {
  DateTime,
  Field,
  Float,
  ID,
  InputType,
  Int,
  MutationInput,
  ObjectType,
  payloadOf,
} from '../../platform/graphql/index.ts';
import type { PartView, Shown, SystemView } from './system.service.ts';
import type { QueueView } from './system.store.ts';

@ObjectType('Queue', { description: 'Work of one kind that waits or is under way.' })
export class QueueType implements QueueView {
  @Field(() => String)
  name!: string;

  @Field(() => Int, { description: 'Due and not taken.' })
  ready!: number;

  @Field(() => Int, { description: 'Waiting for a later time.' })
  held!: number;

  @Field(() => Int)
  inFlight!: number;

  @Field(() => Float, { nullable: true, description: 'Age of the oldest that is ready.' })
  oldestMs!: number | null;

  @Field(() => Boolean, { description: 'An operator paused it: what runs ends, nothing further is taken.' })
  paused!: boolean;
}

@InputType('QueueNameInput')
export class QueueNameInput extends MutationInput {
  @Field(() => String)
  name!: string;
}

export const PauseQueuePayload = payloadOf('PauseQueuePayload', 'queue', () => QueueType);
export const ResumeQueuePayload = payloadOf('ResumeQueuePayload', 'queue', () => QueueType);

@ObjectType('Process')
export class ProcessType implements Shown {
  @Field(() => ID, { name: 'id' })
  processId!: string;

  @Field(() => String)
  role!: string;

  @Field(() => [String])
  roles!: readonly string[];

  @Field(() => Int, { nullable: true, description: 'For operators.' })
  pid!: number | null;

  @Field(() => String, { nullable: true, description: 'For operators.' })
  host!: string | null;

  @Field(() => String)
  version!: string;

  @Field(() => DateTime, { name: 'startedAt' })
  startedAtMs!: number;

  @Field(() => DateTime, { name: 'heartbeatAt' })
  heartbeatAtMs!: number;

  @Field(() => Int, { description: 'Calls it hears now.' })
  liveSessions!: number;
}

@ObjectType('Part', { description: 'What the service stands on.' })
export class PartType implements PartView {
  @Field(() => String)
  name!: string;

  @Field(() => Boolean)
  ok!: boolean;

  @Field(() => String, { nullable: true, description: 'For operators.' })
  detail!: string | null;
}

@ObjectType('Readiness', { description: 'Of the process that answers.' })
export class ReadinessType {
  @Field(() => Boolean)
  ready!: boolean;

  @Field(() => [PartType])
  parts!: readonly PartView[];
}

@ObjectType('System')
export class SystemType implements SystemView {
  @Field(() => [String], { description: 'Of the processes that run.' })
  versions!: readonly string[];

  @Field(() => ReadinessType)
  readiness!: SystemView['readiness'];

  @Field(() => [ProcessType])
  processes!: readonly Shown[];

  @Field(() => DateTime, { name: 'at' })
  atMs!: number;
}
