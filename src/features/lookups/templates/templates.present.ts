import type { Template } from './templates.store.ts';

/** A template on the wire; what belongs to the other type is null. */
export const presentTemplate = (template: Template) => ({
  template_id: template.templateId,
  type: template.type,
  name: template.name,
  subject: template.subject,
  html: template.html,
  rcs_content: template.rcsContent,
  created_at: template.createdAtMs,
  updated_at: template.updatedAtMs,
});
