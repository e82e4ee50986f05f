import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CarrierAnswer } from '../../src/features/carriers/index.ts';
import type { OutcomeCode } from '../../src/kernel/outcome.ts';
import { answers } from '../_util/carriers.ts';
import type { RecordingCarrier } from '../_util/carriers.ts';
import { DispatchWorld } from './dispatch.world.ts';
import type { SenderAccount } from './dispatch.world.ts';

const RUNS = 30;
const COMMANDS_MAX = 25;
const TEXT_PRICE = 0.0079;
const HOUR_MS = 3_600_000;
const AWAIT_MS = 72 * HOUR_MS;
const GRACE_MS = 10_000;
const RETRY_MS = 1_000;
/** The last of each is tried when the first was a retry. */
const BEHAVIOURS = ['delivered', 'refused', 'accepted', 'unclear', 'retry'] as const;
type Behaviour = (typeof BEHAVIOURS)[number];

let world: DispatchWorld;

beforeAll(async () => {
  world = await DispatchWorld.start();
});
afterAll(() => world.close());

/** What should be true of one send. */
interface Expected {
  state: 'queued' | 'sending' | 'sent' | 'finished';
  code: OutcomeCode | null;
  /** Requests that a carrier got. */
  asked: number;
  /** When something happens to it by itself. */
  dueMs: number;
  readonly to: string;
  readonly sendId: string;
}

interface Model {
  readonly sends: Expected[];
  readonly optedOut: Set<string>;
}

interface Real {
  readonly account: SenderAccount;
  readonly carrier: RecordingCarrier;
  readonly numbers: readonly string[];
}

type Command = fc.AsyncCommand<Model, Real>;

const finish = (send: Expected, code: OutcomeCode): void => {
  send.state = 'finished';
  send.code = code;
};

/** What happens by itself when the time has come. */
function age(model: Model, nowMs: number): void {
  for (const send of model.sends) {
    if (send.state === 'finished' || send.dueMs > nowMs) continue;
    if (send.state !== 'queued') finish(send, 4090);
    else if (model.optedOut.has(send.to)) finish(send, 4016);
    else {
      send.asked += 1;
      finish(send, 0);
    }
  }
}

/** The database, the carrier and the money say what the model says. */
async function check(model: Model, { account, carrier }: Real): Promise<void> {
  let spent = 0;
  let reserved = 0;
  for (const expected of model.sends) {
    const { state, outcome_code: code } = await world.view(expected.sendId);
    expect({ state, code, to: expected.to }).toEqual({
      state: expected.state,
      code: expected.code,
      to: expected.to,
    });
    const kinds = await world.kinds(expected.sendId);
    expect(kinds.filter((kind) => kind === 'result')).toHaveLength(expected.state === 'finished' ? 1 : 0);
    const asked = carrier.asked.filter(
      ({ request }) => 'sendId' in request && request.sendId === expected.sendId,
    );
    expect(asked).toHaveLength(expected.asked);
    if (expected.code === 0) spent += TEXT_PRICE;
    if (expected.state === 'sending' || expected.state === 'sent') reserved += TEXT_PRICE;
  }
  const funds = await world.funds(account);
  expect(funds.balance).toBeCloseTo(100 - spent, 6);
  expect(funds.reserved).toBeCloseTo(reserved, 6);
}

class Send implements Command {
  constructor(
    readonly behaviour: Behaviour,
    readonly number: number,
  ) {}
  check = (): boolean => true;
  async run(model: Model, real: Real): Promise<void> {
    const to = real.numbers[this.number] ?? '';
    const sendId = await world.accept(real.account, 'sms', { to, body: this.behaviour });
    const send: Expected = { state: 'queued', code: null, asked: 1, dueMs: Infinity, to, sendId };
    model.sends.push(send);
    const nowMs = world.nowMs;
    if (model.optedOut.has(to)) {
      send.asked = 0;
      finish(send, 4016);
    } else if (this.behaviour === 'delivered') finish(send, 0);
    else if (this.behaviour === 'refused') finish(send, 4004);
    else if (this.behaviour === 'accepted') Object.assign(send, { state: 'sent', dueMs: nowMs + AWAIT_MS });
    else if (this.behaviour === 'unclear') Object.assign(send, { state: 'sending', dueMs: nowMs + GRACE_MS });
    else send.dueMs = nowMs + RETRY_MS;
    await world.work();
    await check(model, real);
  }
  toString = (): string => `Send(${this.behaviour}, ${this.number})`;
}

class Receipt implements Command {
  constructor(
    readonly pick: number,
    readonly code: OutcomeCode | null,
  ) {}
  check = (model: Model): boolean => model.sends.length > 0;
  async run(model: Model, real: Real): Promise<void> {
    const send = model.sends[this.pick % model.sends.length];
    if (!send) return;
    const { carrier_message_id: known } = await world.view(send.sendId);
    await world.results.receive({
      ...{
        carrierId: real.carrier.carrierId ?? '',
        teamId: real.account.teamId,
        sendId: send.sendId,
        attempt: 1,
      },
      carrierMessageId: known ?? `named-by-receipt-${send.sendId}`,
      ...{
        result: this.code === null ? null : { outcomeCode: this.code },
        status: `s${this.code}`,
        atMs: world.nowMs,
      },
    });
    if (this.code !== null && (send.state === 'sent' || send.state === 'sending')) finish(send, this.code);
    await check(model, real);
  }
  toString = (): string => `Receipt(${this.pick}, ${this.code})`;
}

class Wait implements Command {
  constructor(readonly ms: number) {}
  check = (): boolean => true;
  async run(model: Model, real: Real): Promise<void> {
    world.clock.advance(this.ms);
    age(model, world.nowMs);
    await world.work();
    await check(model, real);
  }
  toString = (): string => `Wait(${this.ms})`;
}

class OptOut implements Command {
  constructor(readonly number: number) {}
  check = (): boolean => true;
  async run(model: Model, real: Real): Promise<void> {
    const phoneNumber = real.numbers[this.number] ?? '';
    await world.accounts.services.dnc.add(real.account.caller, { phoneNumber });
    model.optedOut.add(phoneNumber);
    await check(model, real);
  }
  toString = (): string => `OptOut(${this.number})`;
}

const number = fc.integer({ min: 0, max: 2 });
const codes: fc.Arbitrary<OutcomeCode | null> = fc.constantFrom(0, 4004, 4008, null);
const commands = fc.commands(
  [
    fc.tuple(fc.constantFrom(...BEHAVIOURS), number).map(([behaviour, to]) => new Send(behaviour, to)),
    fc.tuple(fc.nat(20), codes).map(([pick, code]) => new Receipt(pick, code)),
    fc.constantFrom(RETRY_MS - 1, RETRY_MS, GRACE_MS, HOUR_MS, AWAIT_MS).map((ms) => new Wait(ms)),
    number.map((to) => new OptOut(to)),
  ],
  { maxCommands: COMMANDS_MAX },
);

const answerOf = (behaviour: string, attempt: number): CarrierAnswer => {
  if (behaviour === 'refused') return answers.refused();
  if (behaviour === 'accepted') return answers.accepted();
  if (behaviour === 'unclear') return answers.timedOut();
  return behaviour === 'retry' && attempt === 1 ? answers.noConnection() : answers.ended();
};

describe('a send', () => {
  it('is always in the state that its history says, with one result, paid once, asked for once', async () => {
    const startMs = world.nowMs;
    await fc.assert(
      fc.asyncProperty(commands, async (given) => {
        world.clock.advance(startMs - world.nowMs);
        const account = await world.account();
        const carrier = world.connect(account);
        carrier.answering = ({ work, request }) =>
          answerOf(work === 'text' ? request.body : '', 'attempt' in request ? request.attempt : 0);
        await world.query(
          `insert into dialing_rules (team_id, hours_enabled, phone_attempts_max, updated_by) values ($1, false, 1000, $2)`,
          [account.teamId, account.ownerId],
        );
        const numbers = [world.number(), world.number(), world.number()];
        const real: Real = { account, carrier, numbers };
        await fc.asyncModelRun(() => ({ model: { sends: [], optedOut: new Set<string>() }, real }), given);
        // Whatever is left of it ends by itself, so that the next run finds nothing to do.
        await new Wait(AWAIT_MS).run(
          { sends: [], optedOut: new Set() },
          { ...real, account: await world.account() },
        );
      }),
      { numRuns: RUNS },
    );
  }, 120_000);
});
