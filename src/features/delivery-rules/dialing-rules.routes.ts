import { Type } from '@sinclair/typebox';
import type { TProperties } from '@sinclair/typebox';
import { route } from '../../platform/http/index.ts';
import type { RouteSpec } from '../../platform/http/index.ts';
import { presentDialingRules } from './dialing-rules.present.ts';
import {
  ATTEMPTS_MAX,
  DEFAULT_RULES,
  EMAIL_LENGTH_MAX,
  END_MINUTE_MAX,
  PHONE_LENGTH_MAX,
  START_MINUTE_MAX,
  TEST_ENTRIES_MAX,
  WINDOW_HOURS_MAX,
} from './dialing-rules.rules.ts';
import type { DialingRulesService } from './dialing-rules.service.ts';

const PATH = '/register/public/dialing-rules';
const tag = 'Dialing rules';

const most = (of: string) =>
  Type.Integer({ minimum: 0, maximum: ATTEMPTS_MAX, description: `Most ${of}; 0: none.` });
const windowHours = Type.Integer({ minimum: 1, maximum: WINDOW_HOURS_MAX });
const list = (maxLength: number, description: string) =>
  Type.Array(Type.String({ maxLength }), { maxItems: TEST_ENTRIES_MAX, description });

const FIELDS = {
  hours_enabled: Type.Boolean({ description: "Whether sends keep to hours of the contact's own time zone." }),
  hours_start_minute: Type.Integer({
    ...{ minimum: 0, maximum: START_MINUTE_MAX },
    description: "Minutes since the contact's midnight.",
  }),
  hours_end_minute: Type.Integer({
    ...{ minimum: 1, maximum: END_MINUTE_MAX },
    description: 'The first minute outside; after hours_start_minute.',
  }),
  phone_attempts_max: most('attempts of all phone channels on a number within phone_window_hours'),
  phone_window_hours: windowHours,
  bulk_emails_max: most('bulk emails to a contact within bulk_window_hours'),
  bulk_window_hours: windowHours,
  transactional_emails_max: most('transactional emails to a contact within transactional_window_hours'),
  transactional_window_hours: windowHours,
  test_numbers: list(PHONE_LENGTH_MAX, 'E.164; these skip the frequency limit.'),
  test_emails: list(EMAIL_LENGTH_MAX, 'These skip the frequency limits.'),
  texts_need_consent: Type.Boolean({ description: 'Whether texts need an `sms_optin` consent.' }),
  calls_need_consent: Type.Boolean({
    description: 'Whether voicemails and calls need a `tcpa_optin` consent.',
  }),
  no_verdict_action: Type.Union(
    [Type.Literal('play_speech'), Type.Literal('play_beep'), Type.Literal('hang_up')],
    { description: 'What a call does that hears nobody, or cannot tell whom.' },
  ),
  opt_out_digit: Type.Union([Type.String({ maxLength: 1, pattern: '^[0-9*#]?$' }), Type.Null()], {
    description: 'Pressed while a message is played, it opts out; null: none does.',
  }),
} satisfies TProperties;

const RulesData = Type.Object({
  ...FIELDS,
  updated_at: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Epoch ms; null: never changed, the defaults hold.',
  }),
});

const EXAMPLE = presentDialingRules({ ...DEFAULT_RULES, updatedAtMs: null });

/** The rules of an account's sends (supplement 13, Sends). */
export const dialingRulesRoutes = ({ dialingRules }: { dialingRules: DialingRulesService }): RouteSpec[] => [
  get(dialingRules),
  update(dialingRules),
];

const get = (rules: DialingRulesService): RouteSpec =>
  route({
    ...{ method: 'GET', path: PATH, operationId: 'getDialingRules', tag },
    summary: 'The rules that sends keep',
    scopes: ['balance:read', 'account:write'],
    data: RulesData,
    example: { data: EXAMPLE },
    handler: async ({ caller }) => presentDialingRules(await rules.get(caller)),
  });

const update = (rules: DialingRulesService): RouteSpec =>
  route({
    ...{ method: 'PUT', path: PATH, operationId: 'updateDialingRules', tag },
    summary: 'Change the rules that sends keep',
    description:
      'Omitted fields stay. A signed-in user must be owner or manager. Holds for the next send, and for held ones when they are looked at again.',
    scopes: ['account:write'],
    body: Type.Partial(Type.Object(FIELDS)),
    data: RulesData,
    example: {
      body: { hours_start_minute: 540, hours_end_minute: 1_200, opt_out_digit: '9' },
      data: { ...EXAMPLE, hours_start_minute: 540, hours_end_minute: 1_200, opt_out_digit: '9' },
    },
    handler: async ({ caller, body }) =>
      presentDialingRules(
        await rules.update(caller, {
          ...{ hoursEnabled: body.hours_enabled, hoursStartMinute: body.hours_start_minute },
          ...{ hoursEndMinute: body.hours_end_minute, phoneAttemptsMax: body.phone_attempts_max },
          ...{ phoneWindowHours: body.phone_window_hours, bulkEmailsMax: body.bulk_emails_max },
          bulkWindowHours: body.bulk_window_hours,
          transactionalEmailsMax: body.transactional_emails_max,
          transactionalWindowHours: body.transactional_window_hours,
          ...{ testNumbers: body.test_numbers, testEmails: body.test_emails },
          ...{ textsNeedConsent: body.texts_need_consent, callsNeedConsent: body.calls_need_consent },
          ...{ noVerdictAction: body.no_verdict_action, optOutDigit: body.opt_out_digit },
        }),
      ),
  });
