import type { Clock } from '../../kernel/clock.ts';
import type { Ids } from '../../kernel/ids.ts';
import type { AudioConverter, SpeechEngine } from '../../platform/audio/index.ts';
import type { Cipher, Db } from '../../platform/db/index.ts';
import type { DnsResolver } from '../../platform/dns/index.ts';
import type { RouteSpec } from '../../platform/http/index.ts';
import type { Net } from '../../platform/net/index.ts';
import type { Outbox } from '../../platform/outbox/index.ts';
import type { Storage } from '../../platform/storage/index.ts';
import type { LedgerService, UsersService } from '../accounts/index.ts';
import { brandsRoutes } from './brands/brands.routes.ts';
import { BrandsService } from './brands/brands.service.ts';
import { callsRoutes } from './calls/calls.routes.ts';
import { CallsService } from './calls/calls.service.ts';
import { DomainsService } from './domains/domains.service.ts';
import { mailboxesRoutes } from './domains/mailboxes.routes.ts';
import { MailboxesService } from './domains/mailboxes.service.ts';
import { linesRoutes } from './lines/lines.routes.ts';
import { LinesService } from './lines/lines.service.ts';
import { AudioAddresses } from './media/audio-addresses.ts';
import { mediaRoutes } from './media/media.routes.ts';
import { MediaService } from './media/media.service.ts';
import { Uploads } from './media/uploads.service.ts';
import type { ReadNumber } from './numbers/numbers.rules.ts';
import { numbersRoutes } from './numbers/numbers.routes.ts';
import { NumbersService } from './numbers/numbers.service.ts';
import { MessageAudioService } from './speech/message-audio.service.ts';
import { speechRoutes } from './speech/speech.routes.ts';
import { SpeechService } from './speech/speech.service.ts';
import { templatesRoutes } from './templates/templates.routes.ts';
import { TemplatesService } from './templates/templates.service.ts';
import { usersRoutes } from './users/users.routes.ts';

export interface LookupsOptions {
  readonly db: Db;
  readonly cipher: Cipher;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly outbox: Outbox;
  readonly publicUrl: () => string;
  /** Files that are kept, and files on their way in. */
  readonly storage: Storage;
  readonly incoming: Storage;
  readonly converter: Pick<AudioConverter, 'convert'>;
  readonly engine: SpeechEngine;
  readonly resolver: DnsResolver;
  readonly ledger: Pick<LedgerService, 'capture'>;
  readonly net: Pick<Net, 'get'>;
  /** Whether an account has a carrier of its own; the built-in simulator is none. */
  readonly hasCarrier: (teamId: string) => Promise<boolean>;
  readonly readNumber: ReadNumber;
  readonly regionOf: (teamId: string) => Promise<string>;
}

/** What sends are made from: a service for each noun. */
export interface Lookups {
  readonly audioAddresses: AudioAddresses;
  readonly brands: BrandsService;
  readonly calls: CallsService;
  readonly domains: DomainsService;
  readonly lines: LinesService;
  readonly mailboxes: MailboxesService;
  readonly media: MediaService;
  readonly messageAudio: MessageAudioService;
  readonly numbers: NumbersService;
  readonly speech: SpeechService;
  readonly templates: TemplatesService;
}

export function createLookups(options: LookupsOptions): Lookups {
  const { db, cipher, clock, ids, outbox, storage, publicUrl, hasCarrier } = options;
  const base = { db, clock, ids };
  const audioAddresses = new AudioAddresses({ cipher, clock, storage, publicUrl });
  const uploads = new Uploads({ ids, incoming: options.incoming, converter: options.converter });
  const kept = { ...base, storage, addresses: audioAddresses };
  const speech = new SpeechService({
    ...{ ...kept, converter: options.converter, engine: options.engine, ledger: options.ledger },
  });
  return {
    audioAddresses,
    brands: new BrandsService({ ...base, hasCarrier }),
    calls: new CallsService({ db, storage }),
    domains: new DomainsService({ ...base, cipher, resolver: options.resolver }),
    lines: new LinesService(base),
    mailboxes: new MailboxesService(base),
    media: new MediaService({ ...kept, outbox, uploads, publicUrl }),
    numbers: new NumbersService({
      ...{ ...base, outbox, readNumber: options.readNumber, regionOf: options.regionOf },
    }),
    messageAudio: new MessageAudioService({
      ...{ speech, uploads, addresses: audioAddresses, net: options.net },
    }),
    speech,
    templates: new TemplatesService(base),
  };
}

export const lookupsRoutes = (of: {
  readonly lookups: Lookups;
  readonly users: Pick<UsersService, 'list'>;
}): RouteSpec[] => [
  ...brandsRoutes(of.lookups),
  ...callsRoutes(of.lookups),
  ...linesRoutes(of.lookups),
  ...mailboxesRoutes(of.lookups),
  ...mediaRoutes(of.lookups),
  ...numbersRoutes(of.lookups),
  ...speechRoutes(of.lookups),
  ...templatesRoutes(of.lookups),
  ...usersRoutes(of),
];
