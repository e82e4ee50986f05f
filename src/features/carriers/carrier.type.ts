import {
  connectionOf,
  DateTime,
  enumOf,
  Field,
  Float,
  ID,
  InputType,
  Int,
  Json,
  ObjectType,
  payloadOf,
  RemovedType,
  TeamMutationInput,
} from '../../platform/graphql/index.ts';
import { CIRCUITS } from './breaker.ts';
import type { Circuit } from './breaker.ts';
import { CARRIER_KINDS, CARRIER_STATES } from './carriers.rules.ts';
import type { CarrierKind, CarrierState } from './carriers.rules.ts';
import type { Carrier } from './carriers.service.ts';

const CarrierKindEnum = enumOf('CarrierKind', CARRIER_KINDS);
const CarrierStateEnum = enumOf(
  'CarrierState',
  CARRIER_STATES,
  'PAUSED takes no work; DRAINING ends the work it has and takes no more.',
);

const CarrierCircuitEnum = enumOf(
  'CarrierCircuit',
  CIRCUITS,
  'OPEN: the carrier does not answer, nothing is sent; HALF_OPEN: one request tries it; CLOSED: it answers.',
);

@ObjectType('Carrier', { description: 'A connection to a carrier; its secrets are never shown.' })
export class CarrierType implements Omit<Carrier, 'teamId'> {
  @Field(() => ID, { name: 'id' })
  carrierId!: string;

  @Field(() => CarrierKindEnum)
  kind!: CarrierKind;

  @Field(() => String)
  name!: string;

  @Field(() => CarrierStateEnum)
  state!: CarrierState;

  @Field(() => String, { nullable: true, description: 'Where it leads.' })
  endpoint!: string | null;

  @Field(() => String, { nullable: true, description: 'As whom.' })
  account!: string | null;

  @Field(() => Int, { nullable: true, description: 'Requests a second that go out at most.' })
  ratePerSecond!: number | null;

  @Field(() => Float, { description: 'Requests a second that went out over the last minute.' })
  rate!: number;

  @Field(() => Float, { description: 'Part of them that the carrier did not answer as it should, 0 to 1.' })
  errorRate!: number;

  @Field(() => CarrierCircuitEnum)
  circuit!: Circuit;

  @Field(() => String, { nullable: true, description: 'What was wrong last.' })
  lastFault!: string | null;

  @Field(() => DateTime, { nullable: true, name: 'lastFaultAt' })
  lastFaultAtMs!: number | null;

  @Field(() => ID)
  createdBy!: string;

  @Field(() => DateTime, { name: 'createdAt' })
  createdAtMs!: number;

  @Field(() => DateTime, { name: 'updatedAt' })
  updatedAtMs!: number;
}

@InputType('ConnectCarrierInput')
export class ConnectCarrierInput extends TeamMutationInput {
  @Field(() => CarrierKindEnum)
  kind!: CarrierKind;

  @Field(() => String)
  name!: string;

  @Field(() => Json, { nullable: true, description: 'What the kind needs, in camelCase or snake_case.' })
  settings?: unknown;

  @Field(() => Int, { nullable: true, description: 'Requests a second that go out at most.' })
  ratePerSecond?: number | null;
}

@InputType('UpdateCarrierInput')
export class UpdateCarrierInput extends TeamMutationInput {
  @Field(() => ID)
  id!: string;

  @Field(() => String, { nullable: true })
  name?: string | null;

  @Field(() => Json, { nullable: true })
  settings?: unknown;

  @Field(() => CarrierStateEnum, { nullable: true, description: 'Pauses, drains, or lets it go on.' })
  state?: CarrierState | null;

  @Field(() => Int, { nullable: true, description: 'Requests a second that go out at most; 0: no limit.' })
  ratePerSecond?: number | null;
}

@InputType('DisconnectCarrierInput')
export class DisconnectCarrierInput extends TeamMutationInput {
  @Field(() => ID)
  id!: string;
}

export const CarrierConnection = connectionOf<Carrier>('Carrier', () => CarrierType);
export const ConnectCarrierPayload = payloadOf('ConnectCarrierPayload', 'carrier', () => CarrierType);
export const UpdateCarrierPayload = payloadOf('UpdateCarrierPayload', 'carrier', () => CarrierType);
export const DisconnectCarrierPayload = payloadOf('DisconnectCarrierPayload', 'carrier', () => RemovedType);
