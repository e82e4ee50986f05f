import type { RouteSpec } from '../../platform/http/route.type.ts';
import { consentRoutes } from './consent.routes.ts';
import { contactTagsRoutes } from './contact-tags.routes.ts';
import { dispositionRoutes } from './disposition.routes.ts';
import { followUpsRoutes } from './follow-ups.routes.ts';
import { notesRoutes } from './notes.routes.ts';
import { ownerRoutes } from './owner.routes.ts';
import type { AroundContacts } from './surroundings.ts';
import { tasksRoutes } from './tasks.routes.ts';
import { timelineRoutes } from './timeline.routes.ts';

/** All routes around a contact. */
export const aroundContactsRoutes = (around: AroundContacts): RouteSpec[] => [
  ...contactTagsRoutes(around),
  ...notesRoutes(around),
  ...timelineRoutes(around),
  ...followUpsRoutes(around),
  ...tasksRoutes(around),
  ...ownerRoutes(around),
  ...dispositionRoutes(around),
  ...consentRoutes(around),
];
