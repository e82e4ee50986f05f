import { InboundTexts, TextThreads, textsRoutes } from '../../src/features/texts/index.ts';
import type { NewSend } from '../../src/features/sends/index.ts';
import type { Announce, News } from '../../src/platform/outbox/index.ts';
import { AroundWorld } from '../contacts/around.world.ts';
import { mountSlice } from '../delivery-rules/mounted.ts';
import type { Mounted } from '../delivery-rules/mounted.ts';
import type { TestAccount } from '../_util/index.ts';

/** The number that people write to. */
export const OWN = '+12025550199';

/** Texts over one database: what they told, and the sends that replies asked for. */
export class TextsWorld {
  readonly around: AroundWorld;
  readonly inbound: InboundTexts;
  readonly threads: TextThreads;
  readonly news: News[] = [];
  readonly asked: NewSend[] = [];
  #mounted: Mounted | undefined;
  #messages = 0;

  static async start(): Promise<TextsWorld> {
    const world = new TextsWorld(await AroundWorld.start());
    world.#mounted = await mountSlice(world.around.services, { routes: textsRoutes(world) });
    return world;
  }

  private constructor(around: AroundWorld) {
    this.around = around;
    const { services } = around;
    const announce: Announce = async (_tx, news) => void this.news.push(...news);
    const sends = {
      accept: async (send: NewSend): Promise<string> => {
        this.asked.push(send);
        return services.ids.timed(services.clock.nowMs());
      },
    };
    this.threads = new TextThreads({ ...services, announce, sends });
    this.inbound = new InboundTexts({
      ...services,
      announce,
      ownerOf: (teamId) => services.accounts.ownerId(teamId),
    });
  }

  request(method: string, contactId: string, of: Parameters<Mounted['request']>[2] & { query?: string }) {
    if (!this.#mounted) throw new Error('not mounted');
    const { query = '', ...options } = of;
    return this.#mounted.request(method, `/phone/public/sms/thread/${contactId}${query}`, options);
  }

  /** A text somebody sent, with an id of its own. */
  text(account: TestAccount, from: string, body: string) {
    this.#messages += 1;
    this.around.clock.advance(1);
    return {
      ...{ carrierId: CARRIER, teamId: account.teamId, carrierMessageId: `SM${this.#messages}` },
      ...{ from, to: OWN, body, mediaUrls: [], atMs: this.around.clock.nowMs() },
    };
  }

  receive(account: TestAccount, from: string, body: string): Promise<void> {
    return this.inbound.receive(this.text(account, from, body));
  }

  /** The contact with a number; undefined: none. */
  async contactOf(account: TestAccount, phone: string) {
    const { contacts } = await this.around.services.contacts.search(account.caller, { phone });
    return contacts[0];
  }

  async isListed(account: TestAccount, phoneNumber: string): Promise<boolean> {
    const { dnc } = this.around.services;
    return (await dnc.lookUp(account.caller, { phoneNumbers: phoneNumber })).matched === 1;
  }

  /** Events told since the last call, by name. */
  told(): [event: string, data: News['data']][] {
    return this.news.splice(0).map(({ event, data }) => [event, data]);
  }

  async stop(): Promise<void> {
    await this.#mounted?.close();
    await this.around.stop();
  }
}

const CARRIER = '7b0f2d5e-4c1a-4f7e-9d3b-2a6c8e0f1b37';
