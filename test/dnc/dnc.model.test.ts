import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Caller } from '../../src/kernel/caller.ts';
import { Problem } from '../../src/kernel/problem.ts';
import { AroundWorld } from '../contacts/around.world.ts';

/** `npm test` takes a sample; DNC_MODEL_RUNS=300 is the long run. */
const RUNS = Number(process.env['DNC_MODEL_RUNS'] ?? 10);
const COMMANDS = 30;
const RUN_LIMIT_MS = 20_000;
const NUMBERS = ['+12025550101', '+12025550102', '+12025550103'];
const EMAILS = ['ada@example.com', 'b@example.com'];
const KEYS = [...NUMBERS, ...EMAILS];
/** Contacts by their identifiers. */
const CONTACTS: readonly (readonly string[])[] = [
  ['+12025550101', 'ada@example.com'],
  ['+12025550102'],
  ['b@example.com'],
];

interface Entry {
  key: string;
  brand: number | null;
  selfAdded: boolean;
  updatedAt: number;
}

/** The list and the marks of the contacts, in the plainest words. Every step is a moment later. */
class Model {
  entries: Entry[] = [];
  readonly marks = CONTACTS.map(() => false);
  #now = 0;

  tick(): void {
    this.#now += 1;
  }

  mark(keys: readonly string[], dnc: boolean): { matched: number; modified: number }[] {
    return keys.map((key) => {
      const found = CONTACTS.flatMap((identifiers, index) => (identifiers.includes(key) ? [index] : []));
      const modified = found.filter((index) => this.marks[index] !== dnc);
      for (const index of modified) this.marks[index] = dnc;
      return { matched: found.length, modified: modified.length };
    });
  }

  add(keys: readonly string[], of: { brand: number | null; selfAdded: boolean }) {
    let alreadyListed = 0;
    for (const key of keys) {
      const entry = this.entries.find((one) => one.key === key && one.brand === of.brand);
      if (entry) alreadyListed += 1;
      if (entry) Object.assign(entry, { selfAdded: entry.selfAdded || of.selfAdded, updatedAt: this.#now });
      else this.entries.push({ key, ...of, updatedAt: this.#now });
    }
    return { results: this.mark(keys, true), alreadyListed };
  }

  meant(key: string, brand: number | null): Entry | undefined {
    const ofKey = this.entries.filter((one) => one.key === key && (brand === null || one.brand === brand));
    return ofKey.sort((a, b) => b.updatedAt - a.updatedAt)[0];
  }

  drop(entry: Entry): void {
    this.entries = this.entries.filter((one) => one !== entry);
  }
}

interface Real {
  readonly world: AroundWorld;
  readonly caller: Caller;
  readonly brands: readonly string[];
}
type Step = (model: Model, real: Real) => Promise<void>;

const isNumber = (key: string): boolean => key.startsWith('+');
const split = (keys: readonly string[]) => ({
  phones: keys.filter(isNumber),
  emails: keys.filter((key) => !isNumber(key)),
});
const inOrder = (keys: readonly string[]): string[] => [...split(keys).phones, ...split(keys).emails];
const identifier = (key: string) => (isNumber(key) ? { phoneNumber: key } : { email: key });
const brandOf = ({ brands }: Real, brand: number | null) => (brand === null ? null : (brands[brand] ?? ''));

const add =
  (keys: string[], brand: number | null): Step =>
  async (model, real) => {
    const { phones, emails } = split(keys);
    const brandId = brandOf(real, brand);
    const input = { phoneNumber: phones, email: emails.map((email) => email.toUpperCase()), brandId };
    const added = await real.world.services.dnc.add(real.caller, input);
    expect(added).toEqual(model.add(inOrder(keys), { brand, selfAdded: false }));
  };

const selfAdd =
  (key: string, brand: number | null): Step =>
  async (model, real) => {
    const { outbox, dnc } = real.world.services;
    const { teamId } = real.caller;
    const of = { ...identifier(key), teamId, brandId: brandOf(real, brand), method: 'sms', reason: 'STOP' };
    const added = await outbox.tx((tx) => dnc.selfAdd(tx, of));
    expect(added).toEqual(model.add([key], { brand, selfAdded: true }));
  };

const remove =
  (key: string, brand: number | null): Step =>
  async (model, real) => {
    const brandId = brandOf(real, brand) ?? undefined;
    const removal = real.world.services.dnc.remove(real.caller, identifier(key), { brandId });
    const entry = model.meant(key, brand);
    if (entry?.selfAdded) {
      const error: unknown = await removal.catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(Problem);
      return expect(error).toMatchObject({ status: 400 });
    }
    if (entry) model.drop(entry);
    expect(await removal).toEqual(model.mark([key], false)[0]);
  };

const bulkRemove =
  (keys: string[], brand: number | null): Step =>
  async (model, real) => {
    const { phones, emails } = split(keys);
    const input = { phoneNumbers: phones, emails, brandId: brandOf(real, brand) };
    const removed = await real.world.services.dnc.bulkRemove(real.caller, input);
    const entries = inOrder(keys).flatMap((key) => model.meant(key, brand) ?? []);
    const [stay, go] = [
      entries.filter((entry) => entry.selfAdded),
      entries.filter((entry) => !entry.selfAdded),
    ];
    for (const entry of go) model.drop(entry);
    model.mark(
      keys.filter((key) => !stay.some((entry) => entry.key === key)),
      false,
    );
    expect(removed.deleted).toEqual(go.map((entry) => entry.key));
    expect(removed.skipped.map((one) => one.phoneNumber ?? one.email)).toEqual(
      stay.map((entry) => entry.key),
    );
  };

const lookUp =
  (brand: number | null): Step =>
  async (model, real) => {
    const brandId = brandOf(real, brand) ?? undefined;
    const query = { phoneNumbers: NUMBERS.join(','), emails: EMAILS.join(','), brandId };
    const match = await real.world.services.dnc.lookUp(real.caller, query);
    const entries = model.entries.filter(
      (entry) => brand === null || entry.brand === null || entry.brand === brand,
    );
    const text = (key: string, of: number | null, selfAdded: boolean): string => `${key} ${of} ${selfAdded}`;
    const seen = match.entries.map((entry) => {
      const place = entry.brandId === null ? null : real.brands.indexOf(entry.brandId);
      return text(entry.phoneNumber ?? entry.email ?? '', place, entry.selfAdded);
    });
    expect(seen.sort()).toEqual(entries.map((one) => text(one.key, one.brand, one.selfAdded)).sort());
    expect(match.matched).toBe(new Set(entries.map((entry) => entry.key)).size);
  };

const KEY = fc.constantFrom(...KEYS);
const SOME = fc.uniqueArray(KEY, { minLength: 1 });
const BRAND = fc.constantFrom(null, 0, 1);
const STEP: fc.Arbitrary<{ what: string; step: Step }> = fc.oneof(
  fc.tuple(SOME, BRAND).map((of) => ({ what: `add(${of.join(' ')})`, step: add(...of) })),
  fc.tuple(KEY, BRAND).map((of) => ({ what: `selfAdd(${of.join(' ')})`, step: selfAdd(...of) })),
  fc.tuple(KEY, BRAND).map((of) => ({ what: `remove(${of.join(' ')})`, step: remove(...of) })),
  fc.tuple(SOME, BRAND).map((of) => ({ what: `bulkRemove(${of.join(' ')})`, step: bulkRemove(...of) })),
  BRAND.map((brand) => ({ what: `lookUp(${brand})`, step: lookUp(brand) })),
);

let world: AroundWorld;

beforeAll(async () => {
  world = await AroundWorld.start();
});
afterAll(() => world.stop());

it(
  'The do-not-contact list agrees with a model of it, whatever is done in whatever order',
  { timeout: RUN_LIMIT_MS + RUNS * RUN_LIMIT_MS },
  async () => {
    const property = fc.asyncProperty(fc.array(STEP, { maxLength: COMMANDS, size: 'max' }), async (steps) => {
      const { caller } = await world.account();
      const brand = async () =>
        (await world.services.lookups.brands.create(caller, { companyName: 'Example Ltd' })).brandId;
      const real: Real = { world, caller, brands: [await brand(), await brand()] };
      const contactIds: string[] = [];
      for (const keys of CONTACTS) {
        const { phones, emails } = split(keys);
        contactIds.push(await world.contact(caller, { phone: phones[0] ?? '', email: emails[0] ?? '' }));
      }
      const model = new Model();
      for (const { step } of steps) {
        world.clock.advance(1);
        model.tick();
        await step(model, real);
      }
      await lookUp(null)(model, real);
      const contacts = await Promise.all(contactIds.map((id) => world.services.contacts.get(caller, id)));
      expect(contacts.map((contact) => contact.dnc)).toEqual(model.marks);
    });
    await fc.assert(property, { numRuns: RUNS });
  },
);
