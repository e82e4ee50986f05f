import type { Outcome } from '../../kernel/outcome.ts';
import { Field, Int, ObjectType } from '../../platform/graphql/index.ts';

@ObjectType('OutcomeCode')
export class OutcomeType implements Outcome {
  @Field(() => Int)
  code!: number;

  @Field(() => String)
  name!: string;

  @Field(() => String)
  meaning!: string;

  @Field(() => Boolean, { description: 'The same send may succeed later, unchanged.' })
  retryable!: boolean;
}
