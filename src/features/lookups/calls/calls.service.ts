import { requireScope } from '../../../kernel/caller.ts';
import type { Caller } from '../../../kernel/caller.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { Storage, StoredFile } from '../../../platform/storage/index.ts';
import { notFound, requireId } from '../input.rules.ts';
import { CallsStore } from './calls.store.ts';
import type { Call } from './calls.store.ts';

/** Calls that were made or taken, and their recordings. */
export class CallsService {
  readonly #storage: Storage;
  readonly #store: CallsStore;

  constructor(options: { db: Db; storage: Storage }) {
    this.#storage = options.storage;
    this.#store = new CallsStore(options.db);
  }

  /** @throws Problem insufficient-scope, not-found */
  async get(caller: Caller, callId: string): Promise<Call> {
    requireScope(caller, 'contacts:read');
    const call = await this.#store.find(caller.teamId, requireId(callId, 'call'));
    if (!call) throw notFound('call');
    return call;
  }

  /** A WAV file. @throws Problem insufficient-scope, not-found (also of a call that was not recorded) */
  async recording(caller: Caller, callId: string): Promise<StoredFile> {
    const { recordingKey } = await this.get(caller, callId);
    const file = recordingKey === null ? null : await this.#storage.get(recordingKey);
    if (!file) throw notFound('recording');
    return file;
  }
}
