import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_RULES } from '../../src/features/delivery-rules/index.ts';
import { EmailWorld } from './world.ts';
import type { Loose, Sender } from './world.ts';

let world: EmailWorld;
let as: Sender;

beforeAll(async () => {
  world = await EmailWorld.start();
  world.rules = { ...DEFAULT_RULES, bulkEmailsMax: 1_000, transactionalEmailsMax: 1_000 };
  as = await world.sender();
});
afterAll(async () => world.close());

describe('POST /email/public/email/merged-template', () => {
  const template = async (own: Sender, of: Record<string, unknown> = {}): Promise<string> =>
    (
      await world.api.services.lookups.templates.create(own.caller, {
        ...{ type: 'email', name: 'Welcome', subject: 'Hi {{contact.first_name|there}}' },
        ...{ html: '<p>{{contact.first_name}} {{user.name}}</p>', ...of },
      } as Loose)
    ).templateId;
  const post = (own: Sender, body: Record<string, unknown>) => {
    world.clock.advance(1);
    return world.request('POST', '/email/public/email/merged-template', {
      as: own,
      body: { mailbox_id: own.mailboxId, to: [{ address: 'ada@example.org', name: '<b>Ada</b>' }], ...body },
    });
  };

  it('fills in the fields as text, and records the template', async () => {
    const own = await world.sender();
    const template_id = await template(own);
    expect((await post(own, { template_id })).data).toEqual({ success: true });
    const mail = world.mail.taken.at(-1);
    expect(mail?.part('text/html')).toContain('<p>&#60;b&#62;Ada&#60;/b&#62; ');
    expect(mail?.headers.get('subject')).toBe('Hi <b>Ada</b>');
    expect((await world.history(own)).emails[0].template_id).toBe(template_id);
    await post(own, { template_id, subject_override: 'For {{contact.first_name}}' });
    expect(world.mail.taken.at(-1)?.headers.get('subject')).toBe('For <b>Ada</b>');
  });

  it('lets no field of a contact add a header', async () => {
    const own = await world.sender();
    const template_id = await template(own);
    await post(own, { template_id });
    await world.sql(`update contacts set first_name = E'x\\r\\nBcc: evil@example.org' where team_id = $1`, [
      own.teamId,
    ]);
    expect((await post(own, { template_id })).data).toEqual({ success: true });
    expect(world.mail.taken.at(-1)?.headers.has('bcc')).toBe(false);
    expect(world.mail.taken.at(-1)?.to).toEqual(['ada@example.org']);
  });

  it('answers 404 to a missing, deleted or foreign template, and refuses RCS', async () => {
    const own = await world.sender();
    const foreign = await template(as);
    const gone = await template(own);
    await world.api.services.lookups.templates.remove(own.caller, gone);
    for (const template_id of [randomUUID(), 'none', foreign, gone])
      expect((await post(own, { template_id })).status).toBe(404);
    expect((await post(own, {})).status).toBe(400);
    const rcs = await world.api.services.lookups.templates.create(own.caller, {
      ...{ type: 'rcs', name: 'Card', rcsContent: { text: 'x' } },
    });
    expect((await post(own, { template_id: rcs.templateId })).status).toBe(400);
    const template_id = await template(own);
    const stranger = await post(own, { template_id, merged_user_id: as.ownerId });
    expect(stranger.data).toEqual({ success: false, error: 'merged_user_id is no user of the account.' });
  });
});
