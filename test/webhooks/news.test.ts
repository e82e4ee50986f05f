import { Ajv } from 'ajv';
import addFormatsModule from 'ajv-formats';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventSchemas } from '../../src/features/webhooks/index.ts';
import { SubscriptionWorld } from './subscription.world.ts';

const addFormats = addFormatsModule as unknown as (ajv: Ajv) => void;

let world: SubscriptionWorld;
beforeAll(async () => void (world = await SubscriptionWorld.open()));
afterAll(() => world.close());

it('what happens to a contact arrives at a subscription, in order, as its schemas say', async () => {
  const catcher = await world.catcher();
  const account = await world.api.account();
  await world.subscribe(account, { url: catcher.url });
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await world.api.request(method, `/contact/public${path}`, { as: account, body });
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300);
    return answer.data as { inserted: { contact_id: string }[] };
  };
  const phone_number = '+12025550123';
  const { inserted } = await ask('POST', '/contacts', { first_name: 'Ada', phone_number });
  const contact = `/contacts/${inserted[0]?.contact_id}`;
  await ask('PUT', contact, { last_name: 'Example' });
  const key = { consent_type: 'sms_optin', phone_number };
  await ask('POST', `${contact}/consent`, {
    ...key,
    consent_text: 'Texts are fine.',
    consent_method: 'paper',
  });
  await ask('POST', `${contact}/consent/revoke`, key);
  await ask('DELETE', contact);
  await world.play();

  const ajv = new Ajv({ strict: false });
  addFormats(ajv);
  const schemas = eventSchemas();
  const events = catcher.caught.map(
    ({ body }) => JSON.parse(body) as { event: string; data: { contact_id: string } },
  );
  for (const event of events) {
    ajv.validate(schemas[event.event] ?? {}, event);
    expect(ajv.errors ?? [], event.event).toEqual([]);
    expect(event.data.contact_id).toBe(inserted[0]?.contact_id);
  }
  expect(events.map(({ event }) => event)).toEqual([
    ...['contact.created', 'contact.updated', 'contact.consent.granted', 'contact.consent.revoked'],
    'contact.deleted',
  ]);
});
