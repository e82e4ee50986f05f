import type { Caller } from '../../kernel/caller.ts';
import { Problem } from '../../kernel/problem.ts';
import { actIn } from './context.ts';
import type { GraphContext } from './context.ts';
import { Field, ID, InputType, ObjectType } from './decorators.ts';
import type { ClassType } from './decorators.ts';
import { codeOf } from './errors.ts';

/** What every mutation's input has. */
@InputType()
export class MutationInput {
  @Field(() => String, {
    nullable: true,
    description: 'The same key and input answer the same for 24 hours, and do nothing more.',
  })
  idempotencyKey?: string | null;
}

/** As `MutationInput`; operators name another account. */
@InputType()
export class TeamMutationInput extends MutationInput {
  @Field(() => ID, { nullable: true, description: 'For operators: the account; omitted, the own.' })
  teamId?: string | null;
}

@ObjectType('UserError', { description: 'What the caller can mend in the input.' })
export class UserErrorType {
  @Field(() => String, { nullable: true, description: 'The field of the input.' })
  field!: string | null;

  @Field(() => String)
  message!: string;

  @Field(() => String, { description: "REST's problem type in upper snake." })
  code!: string;
}

@ObjectType('Removed', { description: 'What is there no more.' })
export class RemovedType {
  @Field(() => ID)
  id!: string;
}

/** A mutation's answer: the object, null when the input is to be mended. */
export type Payload<F extends string, T> = { readonly [K in F]: T | null } & {
  readonly userErrors: readonly UserErrorType[];
};

/** The payload type of a mutation: its object, named by `field`, and `userErrors`. */
export function payloadOf(
  name: string,
  field: string,
  type: () => ClassType<object> | object,
): ClassType<object> {
  @ObjectType(name)
  class PayloadType {
    @Field(() => [UserErrorType])
    userErrors!: UserErrorType[];
  }
  Field(type, { nullable: true })(PayloadType.prototype, field);
  return PayloadType;
}

/** Problems that lie in the input itself; every other is an error of the request. */
const MENDABLE = new Set(['validation-error', 'unprocessable']);

/**
 * Runs a mutation within the account it is about: what can be mended in the input is answered as `userErrors`, and the
 * whole answer is kept by the input's idempotencyKey. `work` gets the caller as it acts in that account.
 */
export async function mutate<F extends string, T>(
  context: GraphContext,
  of: { name: string; field: F; input: TeamMutationInput },
  work: (caller: Caller) => Promise<T>,
): Promise<Payload<F, T>> {
  const { idempotencyKey, ...input } = of.input;
  const run = async (): Promise<Payload<F, T>> => {
    const caller = await actIn(context, of.input.teamId);
    try {
      return { [of.field]: await work(caller), userErrors: [] } as unknown as Payload<F, T>;
    } catch (error) {
      if (!(error instanceof Problem) || !MENDABLE.has(error.code)) throw error;
      return { [of.field]: null, userErrors: [userErrorOf(error)] } as unknown as Payload<F, T>;
    }
  };
  if (idempotencyKey == null) return run();
  return context.answers.once(context.caller, { idempotencyKey, name: of.name, input }, run);
}

function userErrorOf(problem: Problem): UserErrorType {
  const field = problem.details?.['field'];
  return {
    field: typeof field === 'string' ? camelCase(field) : null,
    message: problem.detail,
    code: codeOf(problem.code),
  };
}

const camelCase = (name: string): string =>
  name.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());

/** An input without the fields that were given as null or not at all: services know these as omitted. */
export function given<T extends object>(input: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const entries = Object.entries(input).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: NonNullable<T[K]> };
}
