import { requireOperator, requireScope } from '../../../kernel/caller.ts';
import type { Caller } from '../../../kernel/caller.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { isUuid } from '../../../kernel/ids.ts';
import type { Ids } from '../../../kernel/ids.ts';
import { Problem } from '../../../kernel/problem.ts';
import type { Db } from '../../../platform/db/index.ts';
import { requireText } from '../../../kernel/text.ts';
import { NAME_LENGTH_MAX, notFound, requireId } from '../input.rules.ts';
import { BRANDS_MAX, registrationWith } from './brands.rules.ts';
import type { Registration } from './brands.rules.ts';
import { BrandsStore } from './brands.store.ts';
import type { Brand, BrandNames } from './brands.store.ts';

export interface BrandsOptions {
  db: Db;
  clock: Clock;
  ids: Ids;
  /** Whether the account has a carrier of its own; the built-in simulator is none. */
  hasCarrier: (teamId: string) => Promise<boolean>;
}

/**
 * The companies an account sends for. Registration: `none` | `pending` → `approved` | `rejected` by the carrier; a new
 * company name starts it again.
 */
export class BrandsService {
  readonly #options: BrandsOptions;
  readonly #store: BrandsStore;

  constructor(options: BrandsOptions) {
    this.#options = options;
    this.#store = new BrandsStore(options.db);
  }

  /** All, newest first. @throws Problem insufficient-scope */
  async list(caller: Caller): Promise<Brand[]> {
    requireScope(caller, 'numbers:read');
    return this.#store.list(caller.teamId);
  }

  /** @throws Problem insufficient-scope, validation-error, conflict (500 brands) */
  async create(caller: Caller, input: { companyName: string; dbaName?: string | null }): Promise<Brand> {
    requireScope(caller, 'numbers:write');
    const { db, clock, ids } = this.#options;
    const nowMs = clock.nowMs();
    const brand: Brand = {
      brandId: ids.uuid(),
      companyName: requireText('company_name', input.companyName, NAME_LENGTH_MAX),
      dbaName: dbaNameOf(input.dbaName),
      ...(await this.#registration(caller.teamId)),
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    await db.tx(async (tx) => {
      if ((await this.#store.lockAndCount(tx, caller.teamId)) >= BRANDS_MAX) {
        throw new Problem('conflict', `The account has ${BRANDS_MAX} brands already.`);
      }
      await this.#store.insert(tx, { ...brand, teamId: caller.teamId, createdBy: caller.userId });
    });
    return brand;
  }

  /** For slices that name a brand. */
  async exists(teamId: string, brandId: string): Promise<boolean> {
    return isUuid(brandId) && (await this.#store.find(teamId, brandId)) !== null;
  }

  /** Omitted names stay. @throws Problem insufficient-scope, validation-error, not-found */
  async update(caller: Caller, brandId: string, input: BrandNames): Promise<Brand> {
    requireScope(caller, 'numbers:write');
    const id = requireId(brandId, 'brand');
    const former = await this.#store.find(caller.teamId, id);
    if (!former) throw notFound('brand');
    const change: BrandNames = {};
    if (input.companyName !== undefined)
      change.companyName = requireText('company_name', input.companyName, NAME_LENGTH_MAX);
    if (input.dbaName !== undefined) change.dbaName = dbaNameOf(input.dbaName);
    const isRenamed = change.companyName !== undefined && change.companyName !== former.companyName;
    const registration = isRenamed ? await this.#registration(caller.teamId) : {};
    const of = { teamId: caller.teamId, brandId: id, nowMs: this.#options.clock.nowMs() };
    const brand = await this.#store.update(of, { ...change, ...registration });
    if (!brand) throw notFound('brand');
    return brand;
  }

  /**
   * What the carrier's registry decided, told by an operator: nothing of ours asks a carrier for it.
   * @throws Problem forbidden, insufficient-scope, not-found
   */
  async setRegistration(caller: Caller, brandId: string, registration: Registration): Promise<Brand> {
    requireOperator(caller);
    requireScope(caller, 'account:write');
    const id = requireId(brandId, 'brand');
    const of = { teamId: caller.teamId, brandId: id, nowMs: this.#options.clock.nowMs() };
    const brand = await this.#store.update(of, registration);
    if (!brand) throw notFound('brand');
    return brand;
  }

  async #registration(teamId: string) {
    return registrationWith(await this.#options.hasCarrier(teamId));
  }
}

/** An empty name is none. */
function dbaNameOf(name: string | null | undefined): string | null {
  return name === undefined || name === null || name === ''
    ? null
    : requireText('dba_name', name, NAME_LENGTH_MAX);
}
