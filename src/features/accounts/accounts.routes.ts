import { Type } from '@sinclair/typebox';
import { OUTCOMES } from '../../kernel/outcome.ts';
import { route } from '../../platform/http/index.ts';
import type { RouteSpec } from '../../platform/http/index.ts';
import { presentAccount, presentBalance, presentReadiness } from './accounts.present.ts';
import { DUNNING_TIERS, FEATURES, PLANS } from './accounts.rules.ts';
import type { OwnAccountService } from './own-account.service.ts';
import { NEXT_ACTIONS } from './readiness.rules.ts';

const oneOf = <const T extends readonly string[]>(values: T) =>
  Type.Union(values.map((value: T[number]) => Type.Literal(value)));

const tag = 'Account';

/** The account, its money and the catalogue of outcomes (contract, Credentials and Campaigns; supplement 6 and 2). */
export const accountsRoutes = ({ ownAccount }: { ownAccount: OwnAccountService }): RouteSpec[] => [
  account(ownAccount),
  balance(ownAccount),
  readiness(ownAccount),
  outcomes,
];

const account = (own: OwnAccountService): RouteSpec =>
  route({
    ...{ method: 'GET', path: '/register/public/account', operationId: 'getAccount', tag },
    summary: 'The account of the credential',
    scopes: [],
    data: Type.Object({
      team_id: Type.String(),
      name: Type.String(),
      verified: Type.Boolean(),
      plan: oneOf(PLANS),
      features: Type.Array(oneOf(FEATURES)),
      dunning_tier: Type.Union([oneOf(DUNNING_TIERS), Type.Null()], {
        description: 'How far an unpaid subscription has come; null while it is paid.',
      }),
      test_mode: Type.Boolean({ description: 'Sends to simulated numbers only.' }),
      operator: Type.Boolean(),
      flags: Type.Object({
        detection: Type.Boolean(),
        building_blocks: Type.Boolean(),
        keep_transcripts: Type.Boolean(),
      }),
      limits: Type.Object({
        concurrent_sessions: Type.Integer({ description: 'Detection sessions at once.' }),
        send_rate: Type.Union([Type.Integer(), Type.Null()], {
          description: "Sends a second; null: the service's own limit (SEND_RATE_PER_ACCOUNT).",
        }),
      }),
      region: Type.String({ description: 'Country of numbers that carry no country code.' }),
      created_at: Type.Integer({ description: 'Epoch ms.' }),
    }),
    handler: async ({ caller }) => presentAccount(await own.get(caller)),
  });

const balance = (own: OwnAccountService): RouteSpec =>
  route({
    ...{ method: 'GET', path: '/campaign/public/balance', operationId: 'getBalance', tag },
    summary: 'The balance, which pays every channel',
    scopes: ['balance:read'],
    data: Type.Object({
      balance: Type.Number(),
      reserved: Type.Number({ description: 'Part of the balance that sends under way hold.' }),
      available: Type.Number({ description: 'What may be spent: balance less reserved.' }),
      currency: Type.String(),
    }),
    handler: async ({ caller }) => presentBalance(await own.balance(caller)),
  });

const readiness = (own: OwnAccountService): RouteSpec =>
  route({
    ...{ method: 'GET', path: '/register/public/integration-readiness', operationId: 'getReadiness', tag },
    summary: 'What the account still needs before its first send',
    scopes: ['balance:read'],
    data: Type.Object({
      ready: Type.Boolean(),
      next_actions: Type.Array(oneOf(NEXT_ACTIONS), {
        description: 'Most urgent first. An imported number does for `rent_number`.',
      }),
      funds: Type.Object({ available: Type.Number(), currency: Type.String() }),
      lines: Type.Integer({ description: 'How many phone lines there are.' }),
      numbers: Type.Integer({ description: 'How many phone numbers there are.' }),
      carrier_connected: Type.Boolean({ description: 'The built-in simulator does not count.' }),
      verified: Type.Boolean(),
      test_mode: Type.Boolean(),
    }),
    handler: async ({ caller }) => presentReadiness(await own.readiness(caller)),
  });

const outcomes: RouteSpec = route({
  ...{ method: 'GET', path: '/register/public/outcome-codes', operationId: 'listOutcomeCodes', tag },
  summary: 'All outcome codes of callbacks and status webhooks',
  scopes: [],
  data: Type.Array(
    Type.Object({
      code: Type.Integer({ description: '`reason_code`.' }),
      name: Type.String({ description: '`reason`.' }),
      meaning: Type.String(),
      retryable: Type.Boolean({ description: 'The same send may succeed later, unchanged.' }),
    }),
  ),
  handler: async () => OUTCOMES.map((outcome) => ({ ...outcome })),
});
