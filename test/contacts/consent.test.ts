import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { presentConsent } from '../../src/features/contacts/index.ts';
import { AroundWorld, invalid, NOT_FOUND, only, REFUSED } from './around.world.ts';

const TEXT = 'I agree to receive texts from Example Ltd. – jederzeit widerrufbar.';
const INPUT = {
  ...{ consentType: 'sms_optin', phoneNumber: '+12025550123' },
  ...{ consentText: TEXT, consentMethod: 'web_form' },
};
const KEY = { consentType: 'sms_optin', phoneNumber: '+12025550123' };

describe('Consent', () => {
  let world: AroundWorld;

  beforeAll(async () => {
    world = await AroundWorld.start();
  });
  afterAll(() => world.stop());

  const setUp = async () => {
    const { caller, teamId } = await world.account();
    const contactId = await world.contact(caller, { phone: '+12025550123' });
    world.told();
    return { caller, teamId, contactId };
  };

  it('keeps the wording with its hash, is told as news and shown in the timeline and on the contact', async () => {
    const { caller, teamId, contactId } = await setUp();
    const { consents, timeline, contacts } = world.services;
    const { consentId } = await consents.grant(caller, contactId.toUpperCase(), INPUT);
    const nowMs = world.clock.nowMs();
    const hash = createHash('sha256').update(TEXT, 'utf8').digest('hex');
    expect((await consents.list(caller, contactId)).map(presentConsent)).toEqual([
      {
        ...{ consent_id: consentId, contact_id: contactId, consent_type: 'sms_optin' },
        ...{ phone_number: '+12025550123', consent_text: TEXT, consent_text_hash: hash },
        ...{ consent_method: 'web_form', granted_at: nowMs, granted_by: caller.userId },
        ...{ revoked_at: null, revoked_by: null },
      },
    ]);
    const data = {
      ...{ consent_id: consentId, consent_type: 'sms_optin', phone_number: '+12025550123' },
      ...{ consent_method: 'web_form', consent_text_hash: hash },
    };
    expect(await timeline.list(caller, contactId)).toMatchObject([{ type: 'consent_granted', data }]);
    expect(world.told()).toEqual([
      {
        ...{ teamId, event: 'contact.consent.granted', atMs: nowMs },
        data: { contact_id: contactId, team_id: teamId, ...data },
      },
    ]);
    expect(await contacts.get(caller, contactId)).toMatchObject({
      hasSmsConsent: true,
      hasTcpaConsent: false,
    });
  });

  it('is revoked for a number and type, every record of it, once', async () => {
    const { caller, teamId, contactId } = await setUp();
    const { consents, timeline, contacts } = world.services;
    const first = await consents.grant(caller, contactId, INPUT);
    world.clock.advance(1_000);
    const second = await consents.grant(caller, contactId, { ...INPUT, consentMethod: 'paper' });
    const calls = await consents.grant(caller, contactId, { ...INPUT, consentType: 'tcpa_optin' });
    const other = await consents.grant(caller, contactId, { ...INPUT, phoneNumber: '+12025550124' });
    world.told();
    world.clock.advance(1_000);
    const agent = { ...(await world.user(caller, 'agent')) };
    expect(await consents.revoke(agent, contactId, KEY)).toEqual({ ...KEY, revokedCount: 2 });
    const nowMs = world.clock.nowMs();
    const revoked = (await consents.list(caller, contactId)).filter(
      (consent) => consent.revokedAtMs !== null,
    );
    expect(revoked.map((consent) => consent.consentId).sort()).toEqual(
      [first.consentId, second.consentId].sort(),
    );
    for (const consent of revoked)
      expect(consent).toMatchObject({ revokedAtMs: nowMs, revokedBy: agent.userId });
    expect(revoked.map((c) => c.consentId)).not.toContain(calls.consentId);
    expect(revoked.map((c) => c.consentId)).not.toContain(other.consentId);
    expect(world.told()).toMatchObject([
      {
        ...{ teamId, event: 'contact.consent.revoked', atMs: nowMs },
        data: { contact_id: contactId, consent_type: 'sms_optin', phone_number: '+12025550123' },
      },
    ]);
    expect((await timeline.list(caller, contactId))[0]).toMatchObject({
      type: 'consent_revoked',
      data: { consent_ids: [first.consentId, second.consentId].sort(), revoked_by: agent.userId },
    });
    expect(await contacts.get(caller, contactId)).toMatchObject({
      hasSmsConsent: false,
      hasTcpaConsent: true,
    });
    world.clock.advance(1_000);
    expect(await consents.revoke(caller, contactId, KEY)).toEqual({ ...KEY, revokedCount: 0 });
    expect(world.told()).toEqual([]);
    await consents.grant(caller, contactId, INPUT);
    expect(await contacts.get(caller, contactId)).toMatchObject({ hasSmsConsent: true });
  });

  it('that was never given cannot be revoked', async () => {
    const { caller, contactId } = await setUp();
    await world.services.consents.grant(caller, contactId, INPUT);
    for (const key of [
      { ...KEY, consentType: 'tcpa_optin' },
      { ...KEY, phoneNumber: '+12025550124' },
    ]) {
      await expect(world.services.consents.revoke(caller, contactId, key)).rejects.toMatchObject(NOT_FOUND);
    }
  });

  it.each([
    ['consent_type', { consentType: 'email' }],
    ['consent_type', { consentType: undefined }],
    ['consent_method', { consentMethod: 'sms' }],
    ['consent_method', { consentMethod: undefined }],
    ['consent_text', { consentText: '' }],
    ['consent_text', { consentText: undefined }],
    ['consent_text', { consentText: 'a\0' }],
    ['consent_text', { consentText: 'x'.repeat(20_001) }],
    ['phone_number', { phoneNumber: '2025550123' }],
    ['phone_number', { phoneNumber: '+1 202 555 0123' }],
    ['phone_number', { phoneNumber: '+0123456789' }],
    ['phone_number', { phoneNumber: '+12025550123\n' }],
    ['phone_number', { phoneNumber: undefined }],
    ['phone_number', { phoneNumber: 12025550123 }],
  ])('is refused with a wrong %s: %j', async (field, wrong) => {
    const { caller, contactId } = await setUp();
    const attempt = world.services.consents.grant(caller, contactId, { ...INPUT, ...wrong });
    await expect(attempt).rejects.toMatchObject(invalid(field));
    expect(await world.services.consents.list(caller, contactId)).toEqual([]);
    expect(world.told()).toEqual([]);
  });

  it('needs a contact of the account', async () => {
    const [mine, theirs] = [await setUp(), await setUp()];
    const { consents } = world.services;
    await consents.grant(theirs.caller, theirs.contactId, INPUT);
    for (const contactId of [theirs.contactId, 'nonsense', mine.teamId]) {
      await expect(consents.grant(mine.caller, contactId, INPUT)).rejects.toMatchObject(NOT_FOUND);
      await expect(consents.revoke(mine.caller, contactId, KEY)).rejects.toMatchObject(NOT_FOUND);
      await expect(consents.list(mine.caller, contactId)).rejects.toMatchObject(NOT_FOUND);
    }
    expect(await consents.list(theirs.caller, theirs.contactId)).toMatchObject([{ revokedAtMs: null }]);
  });

  it('needs its own scopes', async () => {
    const { caller, contactId } = await setUp();
    const { consents } = world.services;
    const others = only(caller, 'contacts:read', 'contacts:write');
    await expect(consents.grant(others, contactId, INPUT)).rejects.toMatchObject(REFUSED);
    await expect(consents.list(others, contactId)).rejects.toMatchObject(REFUSED);
    await expect(consents.revoke(others, contactId, KEY)).rejects.toMatchObject(REFUSED);
    await expect(consents.grant(only(caller, 'consent:read'), contactId, INPUT)).rejects.toMatchObject(
      REFUSED,
    );
    await consents.grant(only(caller, 'consent:write'), contactId, INPUT);
    expect(await consents.list(only(caller, 'consent:read'), contactId)).toHaveLength(1);
  });
});
