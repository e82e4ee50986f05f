import { Problem } from '../../kernel/problem.ts';
import { checkText, invalidField } from '../../kernel/text.ts';

export const LABEL_LENGTH_MAX = 200;
/** `#rgb` or `#rrggbb` (supplement 12). */
const COLOR = /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i;
export const COLOR_LENGTH_MAX = 7;
/** Living tags of an account: the list answers them all at once (contract, Limits, Paging). */
export const TAGS_PER_ACCOUNT_MAX = 10_000;
export const BULK_DELETE_MAX = 1_000;
const DEFAULT_COLOR = '#e5e7eb';
const DEFAULT_TEXT_COLOR = '#111827';

export interface NewTag {
  label?: unknown;
  color?: unknown;
  textColor?: unknown;
}

/** Colours that were not given are undefined: kept by a change. */
export interface TagChange {
  label: string;
  color: string | undefined;
  textColor: string | undefined;
}

/** The refusal's words are the contract's (Errors, Tags). @throws Problem validation-error */
export function checkTag(input: NewTag): TagChange {
  const { label } = input;
  if (label === undefined || label === null || (typeof label === 'string' && label.trim() === '')) {
    throw new Problem('validation-error', 'Tag must have at least 1 character', { field: 'label' });
  }
  return {
    label: checkText('label', label, LABEL_LENGTH_MAX),
    color: checkColor('color', input.color),
    textColor: checkColor('text_color', input.textColor),
  };
}

/** A new tag is never without colours. */
export const withDefaultColors = (tag: TagChange): { label: string; color: string; textColor: string } => ({
  label: tag.label,
  color: tag.color ?? DEFAULT_COLOR,
  textColor: tag.textColor ?? DEFAULT_TEXT_COLOR,
});

function checkColor(field: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || !COLOR.test(value)) {
    throw invalidField(field, `${field} must be a color such as #0af or #00aaff.`);
  }
  return value;
}

/** At least one id (contract, Errors, Tags). @throws Problem validation-error */
export function checkTagIds(tagIds: unknown): string[] {
  if (!Array.isArray(tagIds) || tagIds.length === 0) {
    throw invalidField('tag_ids', 'tag_ids must hold at least one id.');
  }
  if (tagIds.length > BULK_DELETE_MAX) {
    throw invalidField('tag_ids', `tag_ids must hold at most ${BULK_DELETE_MAX} ids.`);
  }
  if (!tagIds.every((id): id is string => typeof id === 'string')) {
    throw invalidField('tag_ids', 'tag_ids must hold ids.');
  }
  return tagIds;
}
