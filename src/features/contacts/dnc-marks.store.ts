import type { Tx } from '../../platform/db/index.ts';

export interface DncMark {
  teamId: string;
  /** E.164. */
  phoneNumbers: readonly string[];
  /** In lower case. */
  emails: readonly string[];
  dnc: boolean;
  nowMs: number;
}

export interface MarkedContact {
  contactId: string;
  /** Of those asked for: what the contact was found by. */
  identifiers: string[];
  /** Its mark was another before. */
  isChanged: boolean;
}

/** A contact is meant when one of its numbers, or its email, is among those given; locked in one order for all writers. */
const MARK_SQL = `
with matched as (
  select id, dnc, phone_number, phone_numbers, lower(email) as email from contacts where team_id = $1
    and (phone_number = any($2::text[]) or phone_numbers && $2::text[] or lower(email) = any($3::text[]))
  order by id for no key update
), changed as (
  update contacts c set dnc = $4, updated_at = $5 from matched m
  where c.team_id = $1 and c.id = m.id and m.dnc <> $4 returning c.id
)
select m.id, m.phone_number, m.phone_numbers, m.email, changed.id is not null as changed
from matched m left join changed using (id) order by m.id`;

/** The statement that carries do-not-contact over to the contacts. */
export class DncMarksStore {
  async mark(tx: Tx, of: DncMark): Promise<MarkedContact[]> {
    const { teamId, phoneNumbers, emails, dnc, nowMs } = of;
    const { rows } = await tx.query<{
      id: string;
      phone_number: string | null;
      phone_numbers: string[];
      email: string | null;
      changed: boolean;
    }>(MARK_SQL, [teamId, phoneNumbers, emails, dnc, new Date(nowMs)]);
    const asked = new Set([...phoneNumbers, ...emails]);
    return rows.map((row) => ({
      contactId: row.id,
      identifiers: [...new Set([row.phone_number, ...row.phone_numbers, row.email])].filter(
        (identifier): identifier is string => identifier !== null && asked.has(identifier),
      ),
      isChanged: row.changed,
    }));
  }
}
