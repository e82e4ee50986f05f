import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TestAccount } from '../_util/api.ts';
import { isSignedByUs, START_MS, SubscriptionWorld } from './subscription.world.ts';

describe('a test of a subscription', () => {
  let world: SubscriptionWorld;
  let account: TestAccount;
  beforeEach(async () => {
    world = await SubscriptionWorld.open();
    account = await world.api.account();
  });
  afterEach(() => world.close());

  it('sends a signed sample of what is subscribed to and answers what came back', async () => {
    const catcher = await world.catcher(() => ({ status: 418 }));
    const subscribed = await world.subscribe(account, { url: catcher.url, eventTypes: ['campaign.*'] });
    const path = `/register/public/webhooks/${subscribed.id}/test`;
    const { status, data } = await world.api.request('POST', path, { as: account });
    expect([status, data]).toEqual([200, { status_code: 418, duration_ms: expect.any(Number) }]);
    const [hook] = catcher.caught;
    expect(hook && isSignedByUs(hook, subscribed.secret)).toBe(true);
    expect(JSON.parse(hook?.body ?? '{}')).toMatchObject({
      ...{ event: 'campaign.started', event_at: START_MS, sequence: 0 },
      data: { campaign_id: expect.any(String) },
    });
    expect(await world.deliveries(subscribed)).toEqual([]);
    expect((await world.subscription(subscribed)).status).toBe('active');
  });

  it('says why there was no answer', async () => {
    const catcher = await world.catcher(() => 'hangup');
    const subscribed = await world.subscribe(account, { url: catcher.url });
    const path = `/register/public/webhooks/${subscribed.id}/test`;
    const { status, data } = await world.api.request('POST', path, { as: account });
    expect(status).toBe(200);
    expect(data).toEqual({ status_code: null, duration_ms: expect.any(Number), error: 'connection_lost' });
  });
});
