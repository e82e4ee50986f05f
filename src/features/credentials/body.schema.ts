import { Type } from '@sinclair/typebox';
import type { Static, TObject, TUnsafe } from '@sinclair/typebox';

/** A body whose every field may be left out may be left out itself: then, and for JSON null, it is null. */
export const optionalBody = <T extends TObject>(schema: T): TUnsafe<Static<T> | null> =>
  Type.Unsafe<Static<T> | null>({ ...schema, type: ['object', 'null'] });
