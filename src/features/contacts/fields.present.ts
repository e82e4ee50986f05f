import type { CustomField } from './fields.rules.ts';

/** The custom field of the contract (Resources, Custom field). */
export const presentField = (field: CustomField) => ({
  custom_field_id: field.fieldId,
  type: field.type,
  display_name: field.displayName,
  slug: field.slug,
  ...(field.listItems === null
    ? {}
    : {
        list_items: field.listItems.map((item) => ({
          item_id: item.itemId,
          display_name: item.displayName,
          value: item.value,
        })),
      }),
  created_at: field.createdAtMs,
});
