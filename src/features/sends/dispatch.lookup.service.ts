import { Gather } from '../../platform/outbox/index.ts';
import { TargetRefused } from '../../platform/net/index.ts';
import { attemptsCountFromMs, DEFAULT_RULES, simulatedOutcome } from '../delivery-rules/index.ts';
import type { DialingRules, Facts } from '../delivery-rules/index.ts';
import type { OutcomeCode } from '../../kernel/outcome.ts';
import { standingOf } from './attempt.carrier.ts';
import type { AttemptCarrier, ChosenCarrier } from './attempt.carrier.ts';
import type { DispatchOptions } from './dispatch.options.type.ts';
import type { OpenSend } from './dispatch.type.ts';
import { factsOf, resolve, wishOf } from './facts.rules.ts';
import type { Resolved } from './facts.rules.ts';
import { FactsStore } from './facts.store.ts';
import type { FactsWish, StoredFacts } from './facts.store.ts';
import { checkRequest, firstFault } from './request.rules.ts';
import type { Fault, RequestedSend } from './request.type.ts';

/** Sends of one statement, and statements at the same time. */
const FACTS_MAX = 200;
const AT_ONCE_MAX = 2;

type Wish = Omit<FactsWish, 'sinceMs'>;

/** A send with all that is known about it. */
export interface LookedUp {
  readonly resolved: Resolved;
  readonly stored: StoredFacts;
  readonly rules: DialingRules;
  readonly facts: Facts;
  readonly carrier: ChosenCarrier;
  /** How a send to a simulated number ends; null: it is none. */
  readonly simulated: OutcomeCode | null;
  /** What keeps it from being sent before any rule is asked. */
  readonly fault: Fault | null;
  readonly isCallbackRefused: boolean;
}

/** Reads what a request asks for and finds what it names, many in one statement. */
export class DispatchLookup {
  readonly #options: DispatchOptions;
  readonly #carriers: AttemptCarrier;
  readonly #facts: Gather<Wish, { stored: StoredFacts; rules: DialingRules }>;

  constructor(options: DispatchOptions, carriers: AttemptCarrier) {
    this.#options = options;
    this.#carriers = carriers;
    const store = new FactsStore(options.db);
    this.#facts = new Gather({
      itemsMax: FACTS_MAX,
      atOnceMax: AT_ONCE_MAX,
      work: async (wishes) => {
        const ofTeams = await options.rules.ofMany([...new Set(wishes.map(({ teamId }) => teamId))]);
        const nowMs = options.clock.nowMs();
        const rules = wishes.map(({ teamId }) => ofTeams.get(teamId) ?? DEFAULT_RULES);
        const asked = wishes.map((wish, index) => {
          const sinceMs = attemptsCountFromMs(rules[index] ?? DEFAULT_RULES, nowMs);
          return { ...wish, sinceMs };
        });
        const found = await store.gather(asked);
        return found.map((stored, index) => ({ stored, rules: rules[index] ?? DEFAULT_RULES }));
      },
    });
  }

  async look(send: OpenSend): Promise<LookedUp> {
    const { clock, audio } = this.#options;
    const { request, faults } = checkRequest(send.channel, send.request);
    const [{ stored, rules }, carrier, refused, voices] = await Promise.all([
      this.#facts.run(wishOf(send, request)),
      this.#carriers.choose(send),
      this.#refusedAddresses(request),
      speaks(request) ? audio.voices() : null,
    ]);
    const simulated = stored.phoneNumber === null ? null : simulatedOutcome(send.channel, stored.phoneNumber);
    const resolved = resolve(send, request, {
      ...{ stored, carrier: standingOf(carrier), isSimulated: simulated !== null },
      hasVoice: (voiceId) => voices === null || voices.has(voiceId),
    });
    const facts = factsOf({ send, request, resolved, stored, rules }, clock.nowMs());
    const fault = firstFault([...faults, ...refused.map(addressFault), ...resolved.faults]);
    const isCallbackRefused = refused.some(({ field }) => field === 'callback_url');
    return { resolved, stored, rules, facts, carrier, simulated, fault, isCallbackRefused };
  }

  /** Addresses that are not allowed (supplement 8). */
  async #refusedAddresses(request: RequestedSend): Promise<RefusedAddress[]> {
    const checks = addressesOf(request).map(async ({ field, url }) => {
      try {
        await this.#options.net.checkUrl(url);
        return [];
      } catch (error) {
        if (error instanceof TargetRefused) return [{ field, why: error.message }];
        throw error;
      }
    });
    return (await Promise.all(checks)).flat();
  }
}

interface RefusedAddress {
  readonly field: string;
  readonly why: string;
}

const addressFault = ({ field, why }: RefusedAddress): Fault => ({ code: 3029, detail: `${field}: ${why}.` });

function addressesOf({ callbackUrl, message }: RequestedSend): { field: string; url: string }[] {
  const addresses = callbackUrl === null ? [] : [{ field: 'callback_url', url: callbackUrl }];
  if (message?.kind === 'text') {
    addresses.push(...message.mediaUrls.map((url) => ({ field: 'media_urls', url })));
  }
  if (message?.kind === 'call' && message.onBeep?.kind === 'url') {
    addresses.push({ field: 'audio_url', url: message.onBeep.url });
  }
  return addresses;
}

const speaks = ({ message }: RequestedSend): boolean =>
  message?.kind === 'call' && (message.onSpeech?.kind === 'speech' || message.onBeep?.kind === 'speech');
