import { expect } from 'vitest';
import { testDb } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';
import { startApi } from '../_util/api.ts';
import type { ApiAnswer, ApiOptions, TestAccount, TestApi } from '../_util/api.ts';

export const CONTACTS = '/contact/public/contacts';

export interface ImportAnswer {
  readonly inserted: { contact_id: string }[];
  readonly updated: { contact_id: string }[];
  readonly rejected: { index: number; reasons: string[] }[];
}

/** A record as it is answered. */
export interface ContactRecord extends Record<string, unknown> {
  readonly contact_id: string;
  readonly list_ids: string[];
  readonly field_data: { type: string; value: string }[];
}

/** Contacts over REST, as one account of a fresh database unless said otherwise. */
export class ContactsWorld {
  readonly database: TestDb;
  readonly api: TestApi;
  readonly account: TestAccount;
  #people = 0;

  private constructor(database: TestDb, api: TestApi, account: TestAccount) {
    this.database = database;
    this.api = api;
    this.account = account;
  }

  static async open(options: ApiOptions = {}): Promise<ContactsWorld> {
    const database = await testDb();
    const api = await startApi(database, options);
    return new ContactsWorld(database, api, await api.account());
  }

  async close(): Promise<void> {
    await this.api.close();
    await this.database.drop();
  }

  /** A phone number and an email that nobody else has. */
  fresh(): { phone: string; email: string } {
    this.#people += 1;
    const phone = `+1202555${String(this.#people).padStart(4, '0')}`;
    return { phone, email: `person${this.#people}@example.com` };
  }

  post(body: unknown, as: TestAccount = this.account): Promise<ApiAnswer> {
    return this.api.request('POST', CONTACTS, { as, body });
  }

  get(path: string, as: TestAccount = this.account): Promise<ApiAnswer> {
    return this.api.request('GET', `${CONTACTS}${path}`, { as });
  }

  put(id: string, body: unknown, as: TestAccount = this.account): Promise<ApiAnswer> {
    return this.api.request('PUT', `${CONTACTS}/${id}`, { as, body });
  }

  remove(id: string, as: TestAccount = this.account): Promise<ApiAnswer> {
    return this.api.request('DELETE', `${CONTACTS}/${id}`, { as });
  }

  /** Imports rows that must be taken. */
  async importRows(types: string[], values: unknown[][], options: object = {}): Promise<ImportAnswer> {
    const answer = await this.post({ fields: types.map((type) => ({ type })), values, ...options });
    expect(answer.status, answer.text).toBe(201);
    return answer.data as ImportAnswer;
  }

  /** Makes one contact; its id. */
  async make(body: object, as: TestAccount = this.account): Promise<string> {
    const { status, data, text } = await this.post(body, as);
    expect(status, text).toBe(201);
    return (data as ImportAnswer).inserted[0]!.contact_id;
  }

  async read(id: string, as: TestAccount = this.account): Promise<ContactRecord> {
    return ((await this.get(`/${id}`, as)).data as { contact: ContactRecord }).contact;
  }

  /** The records of an answer's contacts, in its order. */
  readAll(ids: readonly { contact_id: string }[], as?: TestAccount): Promise<ContactRecord[]> {
    return Promise.all(ids.map(({ contact_id }) => this.read(contact_id, as)));
  }
}
