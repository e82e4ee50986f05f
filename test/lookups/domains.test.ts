import { createPublicKey, createSign, createVerify, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dkimContext } from '../../src/features/lookups/index.ts';
import type { DomainWithRecords } from '../../src/features/lookups/index.ts';
import { recordsOf } from '../../src/features/lookups/domains/domains.rules.ts';
import { callerOf } from '../_util/index.ts';
import { DnsServer } from '../platform/dns/server.ts';
import { LookupsWorld } from './world.ts';

describe('sending domains', () => {
  let server: DnsServer;
  let world: LookupsWorld;
  beforeAll(async () => {
    server = await DnsServer.start();
    world = await LookupsWorld.start({ dnsServers: [server.address] });
  });
  afterAll(async () => {
    await world.close();
    server.close();
  });
  const domains = () => world.api.services.lookups.domains;
  const caller = async () => (await world.account()).caller;
  const publish = (domain: DomainWithRecords, only: (record: { isRequired: boolean }) => boolean): void => {
    server.zone.clear();
    for (const record of domain.records.filter(only)) server.zone.set(record.name, [record.value]);
  };

  it('name what is to be published, with a key of their own that is stored encrypted', async () => {
    const who = await caller();
    const made = await domains().create(who, { domain: ' Mail.Example.COM. ', purpose: 'bulk' });
    expect(made).toMatchObject({ domain: 'mail.example.com', purpose: 'bulk', verified: false });
    expect(made.records.map(({ type, name, isRequired }) => `${type} ${name} ${isRequired}`)).toEqual([
      'TXT _tonegate-verification.mail.example.com true',
      `TXT ${made.dkimSelector}._domainkey.mail.example.com true`,
      'TXT mail.example.com false',
      'TXT _dmarc.mail.example.com false',
    ]);
    const { rows } = await world.database.db.query<{ dkim_private_ciphertext: string }>(
      'select dkim_private_ciphertext from sending_domains where id = $1',
      [made.domainId],
    );
    const stored = rows[0]!.dkim_private_ciphertext;
    expect(stored).not.toContain('PRIVATE');
    const key = world.api.services.cipher.decrypt(stored, dkimContext(made.domainId));
    const published = /p=(\S+)$/.exec(made.records[1]!.value)![1]!;
    const publicKey = createPublicKey({ key: Buffer.from(published, 'base64'), format: 'der', type: 'spki' });
    expect(publicKey.asymmetricKeyDetails?.modulusLength).toBe(2_048);
    const signature = createSign('sha256').update('text').sign(key);
    expect(createVerify('sha256').update('text').verify(publicKey, signature)).toBe(true);
  });

  it('are verified when what is asked for is published, and lose it when it is gone', async () => {
    const who = await caller();
    const made = await domains().create(who, { domain: 'example.com' });
    server.zone.clear();
    const before = await domains().verify(who, made.domainId);
    expect(before.verified).toBe(false);
    expect(before.records.map((record) => record.isPublished)).toEqual([false, false, false, false]);
    publish(made, (record) => record.isRequired);
    const after = await domains().verify(who, made.domainId);
    expect(after).toMatchObject({ verified: true, verifiedAtMs: world.clock.nowMs() });
    expect(after.records.map((record) => record.isPublished)).toEqual([true, true, false, false]);
    world.clock.advance(1_000);
    expect((await domains().verify(who, made.domainId)).verifiedAtMs).toBe(after.verifiedAtMs);
    server.zone.delete(made.records[0]!.name);
    expect(await domains().verify(who, made.domainId)).toMatchObject({ verified: false, verifiedAtMs: null });
  });

  it('are not verified by what was published for another account, nor by a part of it', async () => {
    const [one, two] = [await caller(), await caller()];
    const theirs = await domains().create(one, { domain: 'shared.example.com' });
    const ours = await domains().create(two, { domain: 'shared.example.com' });
    publish(theirs, () => true);
    expect((await domains().verify(two, ours.domainId)).verified).toBe(false);
    expect((await domains().verify(one, theirs.domainId)).verified).toBe(true);
    publish(ours, (record) => record === ours.records[1]);
    expect((await domains().verify(two, ours.domainId)).verified).toBe(false);
    const [proof] = theirs.records;
    server.zone.set(proof!.name, [proof!.value]);
    expect((await domains().verify(two, ours.domainId)).verified).toBe(false);
    server.zone
      .set(proof!.name, [ours.records[0]!.value])
      .set(ours.records[1]!.name, [theirs.records[1]!.value]);
    expect((await domains().verify(two, ours.domainId)).verified).toBe(false);
  });

  it('take a record among others, in other spacing', async () => {
    const who = await caller();
    const made = await domains().create(who, { domain: 'example.net' });
    publish(made, () => true);
    const [proof, dkim] = made.records;
    server.zone.set(proof!.name, ['other', proof!.value]);
    server.zone.set(dkim!.name, [dkim!.value.replaceAll('; ', ';') + ';']);
    expect((await domains().verify(who, made.domainId)).verified).toBe(true);
  });

  it('stay as they were while no DNS server answers', async () => {
    const who = await caller();
    const made = await domains().create(who, { domain: 'example.org' });
    publish(made, () => true);
    await domains().verify(who, made.domainId);
    server.zone.set(made.records[0]!.name, 'servfail');
    await expect(domains().verify(who, made.domainId)).rejects.toMatchObject({ status: 503 });
    expect((await domains().get(who, made.domainId)).verified).toBe(true);
  });

  it('of another account are not found', async () => {
    const [one, two] = [await caller(), await caller()];
    const made = await domains().create(one, { domain: 'example.com' });
    for (const id of [made.domainId, randomUUID(), 'x']) {
      await expect(domains().verify(two, id)).rejects.toMatchObject({ status: 404 });
      await expect(domains().get(two, id)).rejects.toMatchObject({ status: 404 });
    }
    expect(await domains().list(two)).toEqual([]);
    expect(await domains().list(one)).toMatchObject([{ domain: 'example.com' }]);
  });

  it.each([
    '',
    'localhost',
    'example',
    '192.0.2.1',
    'a..b',
    '-a.example.com',
    'ex ample.com',
    'a\0.example.com',
  ])('are no %j', async (domain) => {
    await expect(domains().create(await caller(), { domain })).rejects.toMatchObject({ status: 400 });
  });

  it('are there once for each account', async () => {
    const who = await caller();
    await domains().create(who, { domain: 'example.com' });
    await expect(domains().create(who, { domain: 'EXAMPLE.com' })).rejects.toMatchObject({ status: 409 });
  });

  it('say the key within what a TXT record can hold in strings of 255 bytes', () => {
    const keys = {
      domain: 'example.com',
      verificationToken: 't',
      dkimSelector: 's',
      dkimPublicKey: 'A'.repeat(392),
    };
    expect(recordsOf(keys)[1]!.value.length).toBeLessThan(512);
  });

  describe('with mailboxes', () => {
    const mailboxes = () => world.api.services.lookups.mailboxes;
    const input = { title: 'News', address: 'News@Example.com', displayName: 'Example News' };

    it('let mailboxes be made and listed as the contract shows them', async () => {
      const as = await world.account();
      await domains().create(as.caller, { domain: 'example.com' });
      const made = await mailboxes().create(as.caller, input);
      const answer = await world.api.request('GET', '/domain/public/mailboxes', { as });
      expect(answer.data).toEqual({
        mailboxes: [
          {
            ...{ mailbox_id: made.mailboxId, title: 'News', address: 'news@example.com' },
            ...{ domain: 'example.com', display_name: 'Example News', is_personal: false },
          },
        ],
      });
      await expect(mailboxes().create(as.caller, input)).rejects.toMatchObject({ status: 409 });
    });

    it('refuse mailboxes of a domain the account does not have', async () => {
      const [one, two] = [await caller(), await caller()];
      await domains().create(one, { domain: 'example.com' });
      await expect(mailboxes().create(two, input)).rejects.toMatchObject({ status: 400 });
      const sub = { ...input, address: 'news@sub.example.com' };
      await expect(mailboxes().create(one, sub)).rejects.toMatchObject({ status: 400 });
    });

    it.each([
      ['an address that is none', { address: 'example.com' }],
      ['two addresses', { address: 'a@example.com, b@example.com' }],
      ['a header in the address', { address: 'a@example.com\r\nBcc: b@example.com' }],
      ['a header in the name', { displayName: 'A\r\nBcc: b@example.com' }],
      ['an empty title', { title: ' ' }],
      ['a long name', { displayName: 'x'.repeat(201) }],
    ])('refuse %s', async (_what, part) => {
      const who = await caller();
      await domains().create(who, { domain: 'example.com' });
      await expect(mailboxes().create(who, { ...input, ...part })).rejects.toMatchObject({ status: 400 });
    });
  });

  it('need the scopes of their kind', async () => {
    const as = await world.account();
    const reader = callerOf(as, ['email:read']);
    await expect(domains().create(reader, { domain: 'example.com' })).rejects.toMatchObject({ status: 403 });
    await expect(domains().verify(reader, randomUUID())).rejects.toMatchObject({ status: 403 });
    const writer = callerOf(as, ['account:write']);
    await expect(domains().list(writer)).rejects.toMatchObject({ status: 403 });
  });
});
