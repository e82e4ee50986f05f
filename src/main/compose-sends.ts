import type { AccountServices } from './compose-accounts.ts';
import type { ContactServices } from './compose-contacts.ts';
import type { LookupsServices } from './compose-lookups.ts';
import { CarrierConnections, CarrierWebhooks } from '../features/carriers/index.ts';
import { SendCredentials } from '../features/sends/index.ts';
import { TeamSecrets } from '../features/credentials/index.ts';
import { DialingRulesService } from '../features/delivery-rules/index.ts';
import { createEmail } from '../features/email/index.ts';
import type { EmailServices } from '../features/email/index.ts';
import {
  AcceptService,
  credentialReportMetrics,
  CredentialReports,
  HeldSendsService,
  ProofService,
  SendRequests,
  SendResults,
  SendsQueryService,
} from '../features/sends/index.ts';
import { InboundTexts, TextThreads } from '../features/texts/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Cipher, Db } from '../platform/db/index.ts';
import type { Limiter } from '../platform/limits/index.ts';
import type { Logger } from '../platform/logger/index.ts';
import type { Metrics } from '../platform/metrics/index.ts';
import type { Net } from '../platform/net/index.ts';
import type { Announce, Outbox } from '../platform/outbox/index.ts';
import type { Settings } from '../platform/settings/index.ts';
import { AccountRates } from './account-rates.ts';
import type { PublicAddresses } from './public-addresses.ts';

/** News that slices tell each other and no subscription hears. */
const INTERNAL_NEWS: ReadonlySet<string> = new Set(['send.finished']);

export interface SendsParts extends AccountServices, ContactServices, LookupsServices {
  readonly settings: Settings;
  readonly masterKey: Buffer;
  readonly db: Db;
  readonly cipher: Cipher;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly outbox: Outbox;
  readonly limiter: Limiter;
  readonly net: Net;
  readonly addresses: PublicAddresses;
  /** To the webhook subscriptions. */
  readonly announce: Announce;
  readonly metrics?: Metrics | undefined;
}

/** Sends of all channels, what carriers say about them, and email. */
export interface SendServices {
  readonly dialingRules: DialingRulesService;
  readonly carrierConnections: CarrierConnections;
  readonly carrierWebhooks: CarrierWebhooks;
  readonly teamSecrets: TeamSecrets;
  readonly acceptSends: AcceptService;
  readonly credentialReports: CredentialReports;
  readonly sendRequests: SendRequests;
  readonly sendResults: SendResults;
  readonly sendsQuery: SendsQueryService;
  readonly heldSends: HeldSendsService;
  readonly proofs: ProofService;
  readonly threads: TextThreads;
  readonly inboundTexts: InboundTexts;
  readonly emails: EmailServices;
}

export function composeSends(parts: SendsParts): SendServices {
  const { db, clock, ids, outbox, settings, masterKey, limiter, net, announce } = parts;
  const { publicUrl } = parts.addresses;
  const dialingRules = new DialingRulesService({ db, clock });
  const carrierConnections = new CarrierConnections({
    ...{ db, cipher: parts.cipher, clock, ids, logger: parts.logger, limiter, net, masterKey, publicUrl },
    allowPrivateTargets: settings.allowPrivateTargets,
  });
  const rates = new AccountRates({
    read: async (teamId) => (await parts.accounts.get(teamId)).sendRate ?? settings.sendRatePerAccount,
    clock,
  });
  const acceptSends = new AcceptService({
    ...{ outbox, clock, ids, limiter, rateOf: (teamId) => rates.of(teamId) },
  });
  const threads = new TextThreads({ db, clock, sends: acceptSends, announce });
  const sendResults = new SendResults({
    ...{ outbox, clock, ids, ledger: parts.ledger, timeline: parts.timeline, dnc: parts.dnc, publicUrl },
    announce: async (tx, news) => {
      await threads.hear(tx, news);
      await announce(
        tx,
        news.filter(({ event }) => !INTERNAL_NEWS.has(event)),
      );
    },
  });
  const inboundTexts = new InboundTexts({ ...parts, ownerOf: (teamId) => parts.accounts.ownerId(teamId) });
  const credentialReports = new CredentialReports({
    ...{ net, clock, ids },
    ...(parts.metrics ? credentialReportMetrics(parts.metrics) : {}),
  });
  const credentials = new SendCredentials({
    authenticate: (request) => parts.authenticator.authenticate(request),
  });
  const sendsQuery = new SendsQueryService({ db });
  return {
    ...{ dialingRules, carrierConnections, acceptSends, threads, sendResults, inboundTexts },
    ...{ credentialReports, sendsQuery },
    teamSecrets: new TeamSecrets({ db, clock, usage: parts.keyUsage }),
    carrierWebhooks: new CarrierWebhooks({
      ...{ connections: carrierConnections, clock, publicUrl },
      masterKeys: [masterKey, ...settings.masterKeyPrevious],
      onReceipt: (receipt) => sendResults.receive(receipt),
      onInboundText: (text) => inboundTexts.receive(text),
    }),
    sendRequests: new SendRequests({
      ...{ credentials, reports: credentialReports, accept: acceptSends, clock, ids },
    }),
    heldSends: new HeldSendsService({ outbox, clock, sendsQuery, results: sendResults.endings }),
    proofs: new ProofService({ db, clock }),
    emails: createEmail({
      ...parts,
      ...{ rules: dialingRules, publicUrl },
      openMail: (teamId) => carrierConnections.open(teamId, 'mail'),
    }),
  };
}
