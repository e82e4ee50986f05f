import { Ajv } from 'ajv';
import addFormatsModule from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { envelopeOf } from '../../src/features/webhooks/event-data.schema.ts';
import {
  EVENT_TYPES,
  isEventPattern,
  matchesAny,
  patternsOf,
  sampleOf,
} from '../../src/features/webhooks/event-types.rules.ts';
import { presentEventType } from '../../src/features/webhooks/subscriptions.present.ts';

const addFormats = addFormatsModule as unknown as (ajv: Ajv) => void;

/** Every name of the contract (Status webhooks) and of supplement 4, without what is not offered. */
const PROMISED = `
contact.rvm.status contact.sms.status contact.email.status contact.email.bounce_hard contact.email.complaint
campaign.started campaign.completed ai_agent.call.started ai_agent.call.failed ai_agent.call.completed
ai_agent.outcome.confirm ai_agent.outcome.opt_out ai_agent.outcome.transfer ai_agent.outcome.voicemail
ai_agent.outcome.incomplete ai_agent.outcome.timeout ai_agent.outcome.identity_failed
contact.rvm.receipt contact.created contact.updated contact.deleted contact.msg.received contact.msg.sent
contact.msg.opt contact.call.answered contact.call.missed contact.call.hangup contact.voicemail.received
contact.consent.granted contact.consent.revoked`
  .trim()
  .split(/\s+/);

describe('the catalogue of events', () => {
  it('holds what is promised and nothing else', () => {
    expect(EVENT_TYPES.map(({ eventType }) => eventType).sort()).toEqual(PROMISED.sort());
  });

  it.each(EVENT_TYPES.map((type) => [type.eventType, type] as const))(
    'shows an example of %s that its schema takes',
    (name, type) => {
      const ajv = new Ajv({ strict: false });
      addFormats(ajv);
      const { example } = presentEventType(type);
      const isValid = ajv.validate(
        envelopeOf({ type: 'string', const: name } as never, type.schema),
        example,
      );
      expect(ajv.errors ?? []).toEqual([]);
      expect(isValid).toBe(true);
      if (name.startsWith('contact.')) expect(example.data).toHaveProperty('contact_id');
    },
  );
});

describe('patterns of events', () => {
  it('are exact names, or a prefix that ends at a dot', () => {
    expect(isEventPattern('contact.sms.status')).toBe(true);
    expect(['contact.*', 'contact.sms.*', 'ai_agent.outcome.*'].map(isEventPattern)).toEqual([
      true,
      true,
      true,
    ]);
    const wrong = [
      '*',
      '.*',
      'contact',
      'contact.',
      'contact.sms',
      'cont.*',
      'contact.*.status',
      'contact.sms.status.*',
    ];
    expect(wrong.filter(isEventPattern)).toEqual([]);
  });

  it('match what the look-up by patterns finds, for every name and pattern', () => {
    const patterns = [...new Set(EVENT_TYPES.flatMap(({ eventType }) => patternsOf(eventType)))];
    for (const { eventType } of EVENT_TYPES) {
      const found = new Set(patternsOf(eventType));
      for (const pattern of patterns)
        expect(matchesAny([pattern], eventType), `${pattern} ${eventType}`).toBe(found.has(pattern));
    }
  });

  it('are sampled by the first event they match', () => {
    expect(sampleOf(['campaign.*']).eventType).toBe('campaign.started');
    expect(sampleOf(['contact.deleted']).eventType).toBe('contact.deleted');
  });
});
