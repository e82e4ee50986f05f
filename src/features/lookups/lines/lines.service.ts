import { requireScope } from '../../../kernel/caller.ts';
import type { Caller } from '../../../kernel/caller.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Ids } from '../../../kernel/ids.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { requireText } from '../../../kernel/text.ts';
import { NAME_LENGTH_MAX, notFound, requireId } from '../input.rules.ts';
import { checkRoom, checkSameType, isNewDefault } from './lines.rules.ts';
import type { LineType } from './lines.rules.ts';
import { LinesStore } from './lines.store.ts';
import type { Line } from './lines.store.ts';

export interface NewLine {
  name: string;
  type: LineType;
  /** Omitted: the first line of its type becomes the default. */
  isDefault?: boolean;
  brandId?: string | null;
}

export interface LineChange {
  name?: string;
  /** Must be the line's own. */
  type?: LineType;
  isDefault?: boolean;
  brandId?: string | null;
}

/**
 * Phone lines. Each type has at most one default: making a line the default takes it from the other, and deleting the
 * default gives it to the oldest line left of the type.
 */
export class LinesService {
  readonly #options: { db: Db; clock: Clock; ids: Ids };
  readonly #store: LinesStore;

  constructor(options: { db: Db; clock: Clock; ids: Ids }) {
    this.#options = options;
    this.#store = new LinesStore(options.db);
  }

  /** All, oldest first. @throws Problem insufficient-scope */
  async list(caller: Caller): Promise<Line[]> {
    requireScope(caller, 'numbers:read');
    return this.#store.list(caller.teamId);
  }

  /** For an account's readiness; who asks is judged there. */
  async countSetup(teamId: string): Promise<{ lines: number; numbers: number }> {
    return this.#store.countSetup(teamId);
  }

  /** @throws Problem insufficient-scope, validation-error, not-found (brand), conflict (1,000 lines) */
  async create(caller: Caller, input: NewLine): Promise<Line> {
    requireScope(caller, 'numbers:write');
    const { ids, clock } = this.#options;
    const { teamId } = caller;
    const { type } = input;
    const name = requireText('name', input.name, NAME_LENGTH_MAX);
    const nowMs = clock.nowMs();
    return this.#change(teamId, async (tx) => {
      const brandId = await this.#brand(tx, teamId, input.brandId ?? null);
      const { lines, hasDefault } = await this.#store.count(tx, teamId, type);
      checkRoom(lines);
      const isDefault = isNewDefault(input.isDefault, hasDefault);
      if (isDefault) await this.#store.clearDefault(tx, { teamId, type, nowMs });
      const line = { lineId: ids.uuid(), name, type, isDefault, brandId, createdAtMs: nowMs };
      await this.#store.insert(tx, { ...line, teamId, createdBy: caller.userId });
      return line;
    });
  }

  /** Omitted fields stay. @throws Problem insufficient-scope, validation-error, not-found */
  async update(caller: Caller, lineId: string, change: LineChange): Promise<Line> {
    requireScope(caller, 'numbers:write');
    const id = requireId(lineId, 'phone line');
    const { teamId } = caller;
    const nowMs = this.#options.clock.nowMs();
    return this.#change(teamId, async (tx) => {
      const former = await this.#store.find(tx, teamId, id);
      if (!former) throw notFound('phone line');
      checkSameType(change.type, former.type);
      const line = {
        ...former,
        name: change.name === undefined ? former.name : requireText('name', change.name, NAME_LENGTH_MAX),
        isDefault: change.isDefault ?? former.isDefault,
        brandId:
          change.brandId === undefined ? former.brandId : await this.#brand(tx, teamId, change.brandId),
      };
      if (line.isDefault && !former.isDefault) {
        await this.#store.clearDefault(tx, { teamId, type: line.type, nowMs });
      }
      await this.#store.update(tx, { ...line, teamId, nowMs });
      return line;
    });
  }

  /** Its numbers stay, on no line. @throws Problem insufficient-scope, not-found */
  async remove(caller: Caller, lineId: string): Promise<{ lineId: string }> {
    requireScope(caller, 'numbers:write');
    const id = requireId(lineId, 'phone line');
    const { teamId } = caller;
    const nowMs = this.#options.clock.nowMs();
    return this.#change(teamId, async (tx) => {
      const line = await this.#store.find(tx, teamId, id);
      if (!line) throw notFound('phone line');
      await this.#store.remove(tx, teamId, id);
      if (line.isDefault) await this.#store.promoteOldest(tx, { teamId, type: line.type, nowMs });
      return { lineId: id };
    });
  }

  async #change<T>(teamId: string, work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#options.db.tx(async (tx) => {
      await this.#store.lock(tx, teamId);
      return work(tx);
    });
  }

  async #brand(tx: Tx, teamId: string, brandId: string | null): Promise<string | null> {
    if (brandId === null) return null;
    const id = requireId(brandId, 'brand');
    if (!(await this.#store.hasBrand(tx, teamId, id))) throw notFound('brand');
    return id;
  }
}
