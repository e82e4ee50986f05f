import { Type } from '@sinclair/typebox';
import type { Caller } from '../../kernel/caller.ts';
import { route } from '../../platform/http/index.ts';
import type { RouteSpec } from '../../platform/http/index.ts';
import { FOREIGN_ID_LENGTH_MAX } from './accept.rules.ts';
import { SEND_SCOPES } from './channels.rules.ts';
import { SendData } from './send.schema.ts';
import { presentSend } from './sends.present.ts';
import type { SendsQueryService } from './sends.query.service.ts';
import type { SendListed } from './sends.query.store.ts';

const ID_LENGTH_MAX = 64;
const PAGE_DEFAULT = 25;
const PAGE_MAX = 100;

/** The delivery log (supplement 1): each send with what happened to it. */
export const sendsRoutes = ({ sendsQuery }: { sendsQuery: SendsQueryService }): RouteSpec[] => [
  route({
    ...{ method: 'GET', path: '/sends', operationId: 'findSends', tag: 'Sends' },
    summary: 'Find sends by the caller’s own reference, newest first',
    description: 'Of the channels whose scope the credential holds.',
    scopes: SEND_SCOPES,
    query: Type.Object({
      foreign_id: Type.String({ minLength: 1, maxLength: FOREIGN_ID_LENGTH_MAX }),
      limit: Type.Integer({ minimum: 1, maximum: PAGE_MAX, default: PAGE_DEFAULT }),
    }),
    data: Type.Array(SendData),
    example: { query: { foreign_id: 'order-7' } },
    handler: async ({ caller, query }) => {
      const keyset = { first: query.limit, after: null };
      const { rows } = await sendsQuery.list(caller, { foreignId: query.foreign_id }, keyset);
      return withSteps(sendsQuery, caller, rows);
    },
  }),
  route({
    ...{ method: 'GET', path: '/sends/{message_id}', operationId: 'getSend', tag: 'Sends' },
    summary: 'Get a send with each of its steps',
    description: 'Takes the scope of its channel.',
    scopes: SEND_SCOPES,
    params: Type.Object({ message_id: Type.String({ maxLength: ID_LENGTH_MAX }) }),
    data: SendData,
    errors: ['not-found'],
    handler: async ({ caller, params }) => {
      const send = await sendsQuery.get(caller, params.message_id);
      const [shown] = await withSteps(sendsQuery, caller, [send]);
      return shown ?? presentSend(send, []);
    },
  }),
];

async function withSteps(
  sendsQuery: SendsQueryService,
  caller: Caller,
  sends: readonly SendListed[],
): Promise<ReturnType<typeof presentSend>[]> {
  const ids = sends.map(({ sendId }) => sendId);
  const steps = await sendsQuery.stepsOf(caller, ids);
  return sends.map((send) => presentSend(send, steps.get(send.sendId) ?? []));
}
