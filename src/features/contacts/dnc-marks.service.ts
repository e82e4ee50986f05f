import type { Clock } from '../../kernel/clock.ts';
import type { Tx } from '../../platform/db/index.ts';
import type { Announce } from '../../platform/outbox/index.ts';
import { DncMarksStore } from './dnc-marks.store.ts';

export interface DncMarkCount {
  /** Contacts that have the identifier. */
  matched: number;
  /** Those among them whose mark became another, each counted at the first of its identifiers. */
  modified: number;
}

/** Keeps `dnc` of contacts as the do-not-contact list is changed (contract, Resources, Contact). */
export class DncMarksService {
  readonly #clock: Clock;
  readonly #announce: Announce;
  readonly #store = new DncMarksStore();

  constructor(options: { clock: Clock; announce: Announce }) {
    this.#clock = options.clock;
    this.#announce = options.announce;
  }

  /** Sets `dnc` on every contact with one of the identifiers, as if one came after the other; counts for each identifier. */
  async mark(
    tx: Tx,
    teamId: string,
    identifiers: { phoneNumbers: readonly string[]; emails: readonly string[] },
    dnc: boolean,
  ): Promise<ReadonlyMap<string, DncMarkCount>> {
    const nowMs = this.#clock.nowMs();
    const contacts = await this.#store.mark(tx, { ...identifiers, teamId, dnc, nowMs });
    const order = [...new Set([...identifiers.phoneNumbers, ...identifiers.emails])];
    const place = new Map(order.map((identifier, index) => [identifier, index]));
    const counts = new Map<string, DncMarkCount>(order.map((one) => [one, { matched: 0, modified: 0 }]));
    for (const contact of contacts) {
      const found = contact.identifiers.sort((a, b) => (place.get(a) ?? 0) - (place.get(b) ?? 0));
      for (const [index, identifier] of found.entries()) {
        const count = counts.get(identifier);
        if (!count) continue;
        count.matched += 1;
        if (index === 0 && contact.isChanged) count.modified += 1;
      }
    }
    const changed = contacts.filter((contact) => contact.isChanged);
    await this.#announce(
      tx,
      changed.map(({ contactId }) => ({
        ...{ teamId, event: 'contact.updated', atMs: nowMs },
        data: { team_id: teamId, contact_id: contactId, dnc },
      })),
    );
    return counts;
  }
}
