import { Type } from '@sinclair/typebox';
import type { TSchema } from '@sinclair/typebox';
import type { RouteSpec } from './route.type.ts';

/** The whole answer: `data` in the envelope, unless the route goes without (interface.md, Response envelope). */
export const answerSchema = (spec: RouteSpec): TSchema =>
  spec.envelope === false
    ? spec.data
    : Type.Object({ data: spec.data, meta: Type.Object({ request_id: Type.String() }) });
