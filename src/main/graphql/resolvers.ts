import { OperatorResolver } from '../../features/accounts/operator.resolver.ts';
import { TeamsQueryService } from '../../features/accounts/teams.query.service.ts';
import { MeResolver, TeamsResolver } from '../../features/accounts/teams.resolver.ts';
import { CarriersResolver } from '../../features/carriers/carriers.resolver.ts';
import { AroundMutationResolver } from '../../features/contacts/around.mutation.resolver.ts';
import { AroundQueryService } from '../../features/contacts/around.query.service.ts';
import { ContactsMutationResolver } from '../../features/contacts/contacts.mutation.resolver.ts';
import { ContactsQueryService } from '../../features/contacts/contacts.query.service.ts';
import { ContactsResolver } from '../../features/contacts/contacts.resolver.ts';
import { FOLLOW_UP_DUE } from '../../features/contacts/follow-ups.service.ts';
import { ListsResolver } from '../../features/contacts/lists.resolver.ts';
import { TasksQueryService } from '../../features/contacts/tasks.query.service.ts';
import { API_KEY_EXPIRED } from '../../features/credentials/api-keys.jobs.ts';
import { ApiKeysResolver } from '../../features/credentials/api-keys.resolver.ts';
import { DetectionKeysResolver } from '../../features/credentials/detection-keys.resolver.ts';
import { DetectionFeedResolver } from '../../features/detection/detection.feed.resolver.ts';
import { SessionsQueryService } from '../../features/detection/sessions.query.service.ts';
import { SessionsResolver } from '../../features/detection/sessions.resolver.ts';
import { DialingRulesResolver } from '../../features/delivery-rules/dialing-rules.resolver.ts';
import { DncResolver } from '../../features/dnc/dnc.resolver.ts';
import { EmailResolver } from '../../features/email/email.resolver.ts';
import { DomainsResolver } from '../../features/lookups/domains/domains.resolver.ts';
import { TOPIC as FILE_REMOVED } from '../../features/lookups/files.jobs.ts';
import { LookupsResolver } from '../../features/lookups/lookups.resolver.ts';
import { TOPIC as NUMBERS_IMPORT } from '../../features/lookups/numbers/import.jobs.ts';
import { TOPICS as SEND_TOPICS } from '../../features/sends/send.type.ts';
import { SendsMutationResolver } from '../../features/sends/sends.mutation.resolver.ts';
import { SendsResolver } from '../../features/sends/sends.resolver.ts';
import { SystemResolver } from '../../features/system/system.resolver.ts';
import { SystemService } from '../../features/system/system.service.ts';
import { TagsResolver } from '../../features/tags/tags.resolver.ts';
import { TOPIC as WEBHOOK_DELIVER } from '../../features/webhooks/delivery.jobs.ts';
import { DeliveriesQueryService } from '../../features/webhooks/deliveries.query.service.ts';
import { WebhooksMutationResolver } from '../../features/webhooks/webhooks.mutation.resolver.ts';
import { WebhooksResolver } from '../../features/webhooks/webhooks.resolver.ts';
import type { Resolvers } from '../../platform/graphql/index.ts';
import type { Services } from '../compose.ts';
import type { Readiness } from '../readiness.ts';
import { VERSION } from '../version.ts';
import {
  ContactRelations,
  FiguresRelations,
  FollowUpRelations,
  NoteRelations,
  SessionRelations,
  TaskRelations,
} from './relations.resolver.ts';

/** Kinds of work that a worker takes off the outbox (worker.role.ts). */
const QUEUE_NAMES = [
  ...[API_KEY_EXPIRED, FILE_REMOVED, FOLLOW_UP_DUE, NUMBERS_IMPORT, WEBHOOK_DELIVER],
  ...Object.values(SEND_TOPICS),
];

export interface AdminResolvers {
  readonly resolvers: Resolvers;
  readonly teams: TeamsQueryService;
  readonly system: SystemService;
}

/** The resolvers of all slices over the services of this process, and the services that only they use. */
export function resolversOf(services: Services, readiness: () => Promise<Readiness>): AdminResolvers {
  const { db, clock, logger, webhooks } = services;
  const teams = new TeamsQueryService({ db });
  const sessions = new SessionsQueryService({ db });
  const deliveries = new DeliveriesQueryService({ db });
  const system = new SystemService({
    ...{ db, clock, logger, version: VERSION, readiness },
    queueNames: QUEUE_NAMES,
  });
  return {
    teams,
    system,
    resolvers: [
      new TeamsResolver({ teams }),
      new MeResolver({ teams }),
      new OperatorResolver(services),
      new ApiKeysResolver(services),
      new DetectionKeysResolver(services),
      new SessionsResolver({ sessions, clock }),
      new DetectionFeedResolver(),
      new WebhooksResolver({ webhooks, deliveries }),
      new WebhooksMutationResolver(services),
      new SystemResolver({ system }),
      new CarriersResolver(services),
      new DomainsResolver(services.lookups),
      new LookupsResolver(services),
      new DialingRulesResolver(services),
      new SendsResolver(services),
      new SendsMutationResolver(services),
      new EmailResolver(services.emails),
      ...contactResolvers(services),
      ...relations(services, teams),
    ],
  };
}

function contactResolvers(services: Services): Resolvers {
  const { db, contacts, lists, fields, gates } = services;
  const pages = new ContactsQueryService({ db, contacts, lists });
  const around = new AroundQueryService({ db });
  return [
    new ContactsResolver({ contacts, pages, around, lists }),
    new ContactsMutationResolver(services),
    new AroundMutationResolver({ around: services, tasks: new TasksQueryService({ db }) }),
    new ListsResolver({ lists, pages, fields, gates }),
    new TagsResolver(services),
    new DncResolver(services),
  ];
}

function relations(services: Services, teams: TeamsQueryService): Resolvers {
  const { contacts, detectionKeys, sendsQuery } = services;
  return [
    new SessionRelations({ detectionKeys }),
    new FiguresRelations({ detectionKeys }),
    new ContactRelations({ teams, sends: sendsQuery }),
    new NoteRelations({ teams }),
    new FollowUpRelations({ contacts }),
    new TaskRelations({ contacts }),
  ];
}
