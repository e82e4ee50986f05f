import type { Db } from '../../../platform/db/index.ts';

export interface Call {
  callId: string;
  contactId: string | null;
  phoneNumber: string;
  callerId: string | null;
  direction: 'inbound' | 'outbound';
  outcome: string | null;
  answered: boolean;
  startedAtMs: number;
  endedAtMs: number | null;
  /** Where the storage keeps it; null: not recorded. */
  recordingKey: string | null;
}

/** The statements on calls. */
export class CallsStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async find(teamId: string, callId: string): Promise<Call | null> {
    const row = await this.#db.prisma.call.findFirst({ where: { teamId, id: callId } });
    if (!row) return null;
    const { contactId, phoneNumber, callerId, outcome, answered, recordingKey } = row;
    return {
      ...{ callId: row.id, contactId, phoneNumber, callerId, outcome, answered, recordingKey },
      direction: row.direction as Call['direction'],
      startedAtMs: row.startedAt.getTime(),
      endedAtMs: row.endedAt?.getTime() ?? null,
    };
  }
}
