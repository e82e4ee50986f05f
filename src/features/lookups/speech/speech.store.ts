import type { Db } from '../../../platform/db/index.ts';

export interface SpeechFile {
  speechId: string;
  teamId: string;
  voiceId: string;
  characters: number;
  createdAtMs: number;
  expiresAtMs: number;
}

/** The statements on speech_files; a file is kept under its row's id. */
export class SpeechStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async insert(file: SpeechFile): Promise<void> {
    await this.#db.query(
      `insert into speech_files (id, team_id, storage_key, voice_id, characters, created_at, expires_at)
       values ($1::uuid, $2, ($1::uuid)::text, $3, $4, $5, $6)`,
      [
        ...[file.speechId, file.teamId, file.voiceId, file.characters],
        ...[new Date(file.createdAtMs), new Date(file.expiresAtMs)],
      ],
    );
  }

  /** Of all accounts, at most `max`. */
  async listExpired(nowMs: number, max: number): Promise<string[]> {
    const { rows } = await this.#db.query<{ id: string }>(
      'select id from speech_files where expires_at <= $1 order by expires_at limit $2',
      [new Date(nowMs), max],
    );
    return rows.map((row) => row.id);
  }

  async removeExpired(speechIds: readonly string[], nowMs: number): Promise<void> {
    await this.#db.query('delete from speech_files where id = any($1::uuid[]) and expires_at <= $2', [
      speechIds,
      new Date(nowMs),
    ]);
  }
}
