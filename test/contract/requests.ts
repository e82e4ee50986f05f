import { randomBytes, randomUUID } from 'node:crypto';
import { hashOfToken } from '../../src/features/email/delivery.service.ts';
import { proofTokenHash } from '../../src/features/sends/proof.rules.ts';
import { dkimContext } from '../../src/features/lookups/index.ts';
import type { TestAccount } from '../_util/index.ts';
import { DKIM_KEY, signatureOf } from '../email/world.ts';
import { carrierCall } from './carrier-call.ts';
import type { ContractWorld, Example } from './world.ts';

/*
 * Requests whose path, body and headers belong together: what others sign, and what leads to something that was sent.
 */

type Make = (world: ContractWorld, account: TestAccount) => Promise<Partial<Example>>;

/** A verified domain and a mailbox of it, so that the account may send email. */
export async function mailbox(world: ContractWorld, account: TestAccount): Promise<string> {
  const [id, domainId, domain] = [randomUUID(), randomUUID(), `${randomUUID()}.example.com`];
  const dkim = world.api.services.cipher.encrypt(DKIM_KEY, dkimContext(domainId));
  await world.sql(
    `insert into sending_domains (id, team_id, domain, verified, verification_token, dkim_selector,
       dkim_public_key, dkim_private_ciphertext, created_by)
     values ($1, $2, $3, true, 'token', 'tonegate', 'key', $4, $5)`,
    [domainId, account.teamId, domain, dkim, account.ownerId],
  );
  await world.sql(
    `insert into mailboxes (id, team_id, title, address, domain, display_name, created_by)
     values ($1, $2, 'News', $3, $4, 'Example Ltd', $5)`,
    [id, account.teamId, `news@${domain}`, domain, account.ownerId],
  );
  return id;
}

/** The id of an email that left, with a token to unsubscribe by. */
async function sentEmail(
  world: ContractWorld,
  account: TestAccount,
): Promise<{ teamId: string; emailId: string; token: string }> {
  await world.made(account, '/email/public/email', {
    ...{ mailbox_id: await mailbox(world, account), to: [{ address: 'ada@example.com' }] },
    ...{ subject: 'News', html: '<p>Hello</p>', send_type: 'bulk' },
  });
  const { emails } = (await world.api.request('GET', '/email/public/email', { as: account })).data;
  const [emailId, token] = [String(emails[0].email_id), randomBytes(24).toString('base64url')];
  await world.sql('update emails set unsubscribe_token_hash = $2 where id = $1', [
    emailId,
    hashOfToken(token),
  ]);
  return { teamId: account.teamId, emailId, token };
}

const unsubscribe: Make = async (world, account) => ({
  params: { token: (await sentEmail(world, account)).token },
});

/** A mail system's call, signed with the secret of its connection. */
async function mailHook(
  world: ContractWorld,
  account: TestAccount,
  of: { body: string; type: string },
): Promise<Partial<Example>> {
  const carrier_id = randomUUID();
  await world.sql(
    `insert into carrier_connections (id, team_id, kind, name, settings_ciphertext, created_by)
     values ($1, $2, 'smtp', 'Mail', '', $3)`,
    [carrier_id, account.teamId, account.ownerId],
  );
  const { secret } = await world.api.services.emails.hooks.rotate(account.caller, carrier_id);
  const headers = { 'content-type': of.type, ...signatureOf(secret, Date.now(), of.body) };
  return { params: { carrier_id }, body: of.body, headers };
}

const carrier =
  (operationId: Parameters<typeof carrierCall>[0]): Make =>
  (world, account) => {
    const { carriers, carrierConnections: connections, addresses } = world.api.services;
    return carrierCall(operationId, {
      ...{ account, services: { carriers, connections }, publicUrl: addresses.publicUrl() },
    });
  };

/** By operationId. */
export const REQUESTS: Readonly<Record<string, Make>> = {
  receiveTwilioStatus: carrier('receiveTwilioStatus'),
  receiveTwilioMessage: carrier('receiveTwilioMessage'),
  showUnsubscribe: unsubscribe,
  unsubscribe,
  openEmail: async (world, account) => {
    const address = world.api.services.emails.addresses.pixel(await sentEmail(world, account));
    return { params: { token: address.split('/').at(-1) ?? '' } };
  },
  followEmailLink: async (world, account) => {
    const { addresses } = world.api.services.emails;
    const address = addresses.link(await sentEmail(world, account), 'https://example.com/');
    return { query: { t: new URL(address).searchParams.get('t') } };
  },
  receiveMailEvents: (world, account) =>
    mailHook(world, account, {
      body: JSON.stringify({ events: [{ event: 'delivered', email_id: randomUUID() }] }),
      type: 'application/json',
    }),
  receiveMail: (world, account) =>
    mailHook(world, account, {
      body: 'From: ada@example.com\r\nTo: news@example.com\r\nSubject: Hello\r\n\r\nHello.\r\n',
      type: 'message/rfc822',
    }),
  getProofOfDelivery: async (world, account) => {
    const token = randomBytes(24).toString('base64url');
    const answer = await world.api.request('POST', '/rvm', { as: account, body: { to: '+15550010001' } });
    await world.sql(
      `update sends set state = 'finished', outcome_code = 0, finished_at = now(), phone_number = '+15550010001',
         receipt_token_hash = $2, receipt_expires_at = now() + interval '7 days' where id = $1`,
      [answer.body.message_id, proofTokenHash(token)],
    );
    return { params: { token } };
  },
};
