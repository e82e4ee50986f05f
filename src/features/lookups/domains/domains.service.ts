import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import { requireScope } from '../../../kernel/caller.ts';
import type { Caller } from '../../../kernel/caller.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Ids } from '../../../kernel/ids.ts';
import { Problem } from '../../../kernel/problem.ts';
import { invalidField } from '../../../kernel/text.ts';
import type { Cipher, Db } from '../../../platform/db/index.ts';
import { DnsError } from '../../../platform/dns/index.ts';
import type { DnsResolver } from '../../../platform/dns/index.ts';
import { notFound, requireId } from '../input.rules.ts';
import {
  DKIM_BITS,
  domainName,
  DOMAINS_MAX,
  isPublished,
  PURPOSES,
  recordsOf,
  SELECTOR_PREFIX,
  VERIFICATION_BYTES,
} from './domains.rules.ts';
import type { DnsRecord, Purpose } from './domains.rules.ts';
import { DomainsStore } from './domains.store.ts';
import type { SendingDomain } from './domains.store.ts';

/** What binds a stored DKIM key to its row. */
export const dkimContext = (domainId: string): string => `dkim:${domainId}`;

const makeKeyPair = promisify(generateKeyPair);

/** A domain and what is to be published for it. */
export type DomainWithRecords = SendingDomain & { records: DnsRecord[] };

/** A record and whether the last question found it. */
export type CheckedRecord = DnsRecord & { isPublished: boolean };

export interface DomainsOptions {
  db: Db;
  cipher: Cipher;
  clock: Clock;
  ids: Ids;
  resolver: DnsResolver;
}

/** Domains that emails are sent from. Each has a DKIM key of its own; `verified` is what its DNS said when last asked. */
export class DomainsService {
  readonly #options: DomainsOptions;
  readonly #store: DomainsStore;

  constructor(options: DomainsOptions) {
    this.#options = options;
    this.#store = new DomainsStore(options.db);
  }

  /** Newest first. @throws Problem insufficient-scope */
  async list(caller: Caller): Promise<DomainWithRecords[]> {
    requireScope(caller, 'email:read');
    return (await this.#store.list(caller.teamId)).map(withRecords);
  }

  /** @throws Problem insufficient-scope, not-found */
  async get(caller: Caller, domainId: string): Promise<DomainWithRecords> {
    requireScope(caller, 'email:read');
    return withRecords(await this.#require(caller, domainId));
  }

  /** Supplement 13, `createSendingDomain`. @throws Problem insufficient-scope, validation-error, conflict (there already, or too many) */
  async create(
    caller: Caller,
    input: { domain: string; purpose?: Purpose | null },
  ): Promise<DomainWithRecords> {
    requireScope(caller, 'account:write');
    const { db, cipher, clock, ids } = this.#options;
    const { teamId, userId: createdBy } = caller;
    const purpose = input.purpose ?? null;
    if (purpose !== null && !PURPOSES.includes(purpose)) {
      throw invalidField('purpose', `purpose must be one of ${PURPOSES.join(', ')}.`);
    }
    const domainId = ids.uuid();
    const pair = await makeKeyPair('rsa', { modulusLength: DKIM_BITS });
    const privateKey = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const domain: SendingDomain = {
      ...{ domainId, domain: domainName(input.domain), purpose, verified: false, verifiedAtMs: null },
      verificationToken: ids.secret(VERIFICATION_BYTES),
      dkimSelector: `${SELECTOR_PREFIX}-${domainId.slice(0, 8)}`,
      dkimPublicKey: pair.publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
      createdAtMs: clock.nowMs(),
    };
    const dkimPrivateCiphertext = cipher.encrypt(privateKey, dkimContext(domainId));
    await db.tx(async (tx) => {
      if ((await this.#store.lockAndCount(tx, teamId)) >= DOMAINS_MAX) {
        throw new Problem('conflict', `The account has ${DOMAINS_MAX} sending domains already.`);
      }
      if (!(await this.#store.insert(tx, { ...domain, teamId, createdBy, dkimPrivateCiphertext }))) {
        throw new Problem('conflict', 'The account has this sending domain already.');
      }
    });
    return withRecords(domain);
  }

  /**
   * Asks the DNS now; supplement 12, `verifySendingDomain`. A domain whose records are gone loses its verification.
   * @throws Problem insufficient-scope, not-found, service-unavailable (no DNS server answers: nothing changes)
   */
  async verify(caller: Caller, domainId: string): Promise<SendingDomain & { records: CheckedRecord[] }> {
    requireScope(caller, 'account:write');
    const domain = await this.#require(caller, domainId);
    const records = await Promise.all(recordsOf(domain).map((record) => this.#check(record)));
    const verified = records.every((record) => record.isPublished || !record.isRequired);
    const of = { teamId: caller.teamId, domainId: domain.domainId, nowMs: this.#options.clock.nowMs() };
    await this.#store.setVerified(of, verified);
    return { ...(await this.#require(caller, domainId)), records };
  }

  async #check(record: DnsRecord): Promise<CheckedRecord> {
    try {
      return { ...record, isPublished: isPublished(record, await this.#options.resolver.txt(record.name)) };
    } catch (error) {
      if (!(error instanceof DnsError)) throw error;
      throw new Problem('service-unavailable', 'No DNS server answered about the domain; try again soon.');
    }
  }

  async #require(caller: Caller, domainId: string): Promise<SendingDomain> {
    const domain = await this.#store.find(caller.teamId, requireId(domainId, 'sending domain'));
    if (!domain) throw notFound('sending domain');
    return domain;
  }
}

const withRecords = (domain: SendingDomain): DomainWithRecords => ({ ...domain, records: recordsOf(domain) });
