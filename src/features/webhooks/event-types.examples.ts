import type { DATA } from './event-data.schema.ts';

const TEAM = '5f0c2a8e-0f3e-4c63-9b53-0d7a1f3f5b10';
const CONTACT = '3b8f5a51-7d43-4f07-a1d5-2f6c1f7f9c21';
const DROP = 'c3d0d2a4-6f55-4d8a-8c39-6f1c9a0e7d33';
const CAMPAIGN = '9a4f0f7e-19b5-4d6d-9a6b-7a8a2f0f6e44';
const CONSENT = '1c9e7f32-0b6d-4d14-8a7e-6e5d4c3b2a11';
const AT_MS = 1_767_225_600_000;

const contact = { team_id: TEAM, contact_id: CONTACT };

const result = {
  ...contact,
  ...{ drop_id: DROP, campaign_id: CAMPAIGN },
  ...{ campaign_type: 'rvm', status: 'success', reason: 'Success', reason_code: 0 },
  ...{ to: '+12025550123', from: '+12025550100' },
};

const campaign = {
  ...{ campaign_id: CAMPAIGN, type: 'sms', name: 'Spring reminder' },
  counts: { sent: 1200, delivered: 1180, failed: 20 },
};

const call = {
  ...{ ...contact, call_id: '0e2f0bb3-93e5-4f29-a0a4-52f1f1b0aa77' },
  ...{ phone_number: '+12025550123', caller_id: '+12025550100', direction: 'outbound' },
};

/** One example of each kind of `data`. */
export const EXAMPLES: Readonly<Record<keyof typeof DATA, Readonly<Record<string, unknown>>>> = {
  rvmStatus: result,
  smsStatus: { ...result, campaign_type: 'sms', segments: 1 },
  rvmReceipt: {
    ...result,
    proof_of_delivery_url: 'https://api.example.com/campaign/public/receipts/r_4f1c',
    receipt_ready_at: AT_MS,
  },
  email: {
    ...{ email_id: 'd1f7c2a5-5e46-4b1b-8b8f-9a3c7c0e1f55', contact_id: CONTACT },
    ...{ to: 'ada@example.com', from: 'news@example.com', status: 'delivered' },
  },
  campaignStarted: { ...campaign, counts: { pending: 1200 }, started_at: AT_MS },
  campaignCompleted: { ...campaign, completed_at: AT_MS },
  agentCall: {
    ...{ team_id: TEAM, contact_id: CONTACT, campaign_id: CAMPAIGN, drop_id: DROP },
    ...{ session_id: 'e5b2a1d0-2c3f-4a7e-9c1d-8b7a6f5e4d66', phone_number: '+12025550123' },
    ...{ outcome: 'confirm', answered: true, duration: 42.5 },
  },
  contact: {
    ...contact,
    ...{ uid: 'crm-17', first_name: 'Ada', last_name: null, email: 'ada@example.com' },
    ...{ phone_number: '+12025550123', company: 'Example Ltd' },
  },
  message: {
    ...{ ...contact, message_id: 'f6c3b2e1-3d4a-4b8f-8d2e-9c8b7a6f5e88' },
    ...{ to: '+12025550123', from: '+12025550100' },
  },
  optOut: { ...contact, phone_number: '+12025550123', opted_in: false },
  call,
  voicemail: { ...call, duration: 12.4 },
  consentGranted: {
    ...{ ...contact, consent_id: CONSENT, consent_type: 'sms_optin', phone_number: '+12025550123' },
    consent_method: 'web_form',
    consent_text_hash: '9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab',
  },
  consentRevoked: {
    ...{ ...contact, consent_ids: [CONSENT], consent_type: 'sms_optin', phone_number: '+12025550123' },
    revoked_by: '0a4d8f0c-6f0e-4b6e-9c55-7d1f2e3a4b99',
  },
};
