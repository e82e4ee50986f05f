import { invalidField } from '../../kernel/text.ts';
import { readDraft, targetOf } from './contacts.rules.ts';
import type { NamedValue, StoredName } from './contacts.rules.ts';
import type { CustomField } from './fields.rules.ts';

export interface ChangeInput {
  /** By field type; names that mean nothing are ignored, so that a record can be sent back as it came. */
  readonly named: Readonly<Record<string, unknown>>;
  /** By field type too, but a type must mean something. */
  readonly fieldData?: readonly { type: string; value: unknown }[] | undefined;
}

/** Null takes a value away. */
export interface ValueChange {
  readonly values: Partial<Record<StoredName, string | null>>;
  readonly custom: Readonly<Record<string, string | null>>;
}

/** Values under the names they came with. @throws Problem validation-error (an unknown type in `fieldData`) */
export function namedValues(input: ChangeInput, custom: ReadonlyMap<string, CustomField>): NamedValue[] {
  const data = (input.fieldData ?? []).map(({ type, value }): NamedValue => {
    const target = targetOf(type, custom);
    if (!target) throw unknownType('field_data', type);
    return { name: type, target, raw: value };
  });
  const named = Object.entries(input.named).flatMap(([name, raw]): NamedValue[] => {
    const target = targetOf(name, custom);
    return target ? [{ name, target, raw }] : [];
  });
  return [...data, ...named];
}

const TYPE_SHOWN_MAX = 64;

export const unknownType = (where: string, type: string) =>
  invalidField(where, `There is no field of type ${JSON.stringify(type.slice(0, TYPE_SHOWN_MAX))}.`);

/** @throws Problem validation-error, for the first value that cannot be taken */
export function readChange(
  input: ChangeInput,
  custom: ReadonlyMap<string, CustomField>,
  region: string,
): ValueChange {
  const named = namedValues(input, custom);
  const { draft, faults } = readDraft(named, region);
  const fault = faults[0];
  if (fault) throw invalidField(fault.field, `${fault.reason}.`);
  const values: Partial<Record<StoredName, string | null>> = {};
  const customValues: Record<string, string | null> = {};
  for (const { target, raw } of named) {
    if (raw === undefined) continue;
    const isCleared = raw === null || (typeof raw === 'string' && raw.trim() === '');
    if ('value' in target) values[target.value] = isCleared ? null : (draft.values[target.value] ?? null);
    // An item that a list does not have changes nothing.
    else if (isCleared) customValues[target.custom.slug] = null;
    else if (Object.hasOwn(draft.custom, target.custom.slug))
      customValues[target.custom.slug] = draft.custom[target.custom.slug] ?? null;
  }
  if (values.phoneNumber !== undefined)
    values.region = values.phoneNumber === null ? null : (draft.values.region ?? null);
  return { values, custom: customValues };
}
