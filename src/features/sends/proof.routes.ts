import { Type } from '@sinclair/typebox';
import { route } from '../../platform/http/index.ts';
import type { RouteSpec } from '../../platform/http/index.ts';
import { presentProof } from './proof.present.ts';
import type { ProofService } from './proof.service.ts';

/** The public page that proves the delivery of a voicemail (supplement 4; supplement 12, Receipts). */
export const proofRoutes = ({ proofs }: { proofs: ProofService }): RouteSpec[] => [
  route({
    method: 'GET',
    path: '/campaign/public/receipts/{token}',
    ...{ operationId: 'getProofOfDelivery', tag: 'Single sends' },
    summary: 'Proof that a voicemail was delivered',
    description:
      'A page for people; its address is in the results of voicemails and works for 7 days, without a key.',
    scopes: [],
    auth: 'none',
    params: Type.Object({ token: Type.String() }),
    data: Type.String({ description: 'HTML.' }),
    dataType: 'text/html',
    errors: ['not-found'],
    handler: async ({ params, reply }) => {
      const page = presentProof(await proofs.open(params.token));
      reply
        .header('Cache-Control', 'private, no-store')
        .header('X-Robots-Tag', 'noindex')
        .header('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
      return page;
    },
  }),
];
