import type { TagsService } from '../tags/index.ts';
import { ConsentService } from './consent.service.ts';
import { ContactTagsService } from './contact-tags.service.ts';
import { DispositionService } from './disposition.service.ts';
import { FollowUpsService } from './follow-ups.service.ts';
import { NotesService } from './notes.service.ts';
import { OwnerService } from './owner.service.ts';
import { Surroundings } from './surroundings.service.ts';
import type { SurroundingsOptions } from './surroundings.service.ts';
import { TasksService } from './tasks.service.ts';
import { TimelineService } from './timeline.service.ts';

/** The services around a contact. */
export interface AroundContacts {
  readonly timeline: TimelineService;
  readonly notes: NotesService;
  readonly followUps: FollowUpsService;
  readonly tasks: TasksService;
  readonly owners: OwnerService;
  readonly dispositions: DispositionService;
  readonly consents: ConsentService;
  readonly contactTags: ContactTagsService;
}

export function createAroundContacts(options: SurroundingsOptions & { tags: TagsService }): AroundContacts {
  const surroundings = new Surroundings(options);
  const timeline = new TimelineService({ ...options, surroundings });
  const around = { ...options, surroundings, timeline };
  return {
    timeline,
    notes: new NotesService(around),
    followUps: new FollowUpsService(around),
    tasks: new TasksService(around),
    owners: new OwnerService(around),
    dispositions: new DispositionService(around),
    consents: new ConsentService(around),
    contactTags: new ContactTagsService(around),
  };
}
