import { randomBytes, randomUUID } from 'node:crypto';
import type { CarrierConnections, CarriersService } from '../../src/features/carriers/index.ts';
import type { TestAccount } from '../_util/index.ts';
import { twilioHeaders } from '../_util/twilio-double.ts';

const SID = `SM${'0123456789abcdef'.repeat(2)}`;
const FORMS = {
  receiveTwilioStatus: { MessageSid: SID, MessageStatus: 'delivered' },
  receiveTwilioMessage: { MessageSid: SID, From: '+12025550123', To: '+12025550100', Body: 'Hello' },
};

/** A signed request to one of the routes that carriers call: what their examples are made of. */
export interface CarrierCall {
  readonly params: Record<string, string>;
  readonly body: string;
  readonly headers: Record<string, string>;
}

/** Connects a Twilio account and gives what it would send to the operation. */
export async function carrierCall(
  operationId: keyof typeof FORMS,
  of: {
    account: TestAccount;
    services: { carriers: CarriersService; connections: Pick<CarrierConnections, 'statusUrlOf'> };
    publicUrl: string;
  },
): Promise<CarrierCall> {
  const { account, services, publicUrl } = of;
  const authToken = randomBytes(16).toString('hex');
  const settings = { account_sid: `AC${randomBytes(16).toString('hex')}`, auth_token: authToken };
  const { carrierId } = await services.carriers.connect(account.caller, {
    ...{ kind: 'twilio', name: 'Twilio', settings: { ...settings, base_url: 'https://8.8.8.8' } },
  });
  const form = FORMS[operationId];
  const url =
    operationId === 'receiveTwilioStatus'
      ? services.connections.statusUrlOf({ carrierId, sendId: randomUUID(), attempt: 1 })
      : `${publicUrl}/carrier/twilio/${carrierId}/messages`;
  const token = new URL(url).pathname.split('/').at(-1) ?? '';
  return {
    params: { carrier_id: carrierId, ...(operationId === 'receiveTwilioStatus' ? { token } : {}) },
    body: new URLSearchParams(form).toString(),
    headers: twilioHeaders(authToken, url, form),
  };
}
