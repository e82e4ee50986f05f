import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { route } from '../../platform/http/index.ts';
import type { RouteSpec } from '../../platform/http/index.ts';
import type { EmailEvents } from './email-events.service.ts';
import { askPage, donePage, PIXEL } from './pages.rules.ts';
import { LINK_PATH, PIXEL_PATH, UNSUBSCRIBE_PATH } from './tracked-addresses.ts';
import type { TrackedAddresses } from './tracked-addresses.ts';
import type { UnsubscribeService } from './unsubscribe.service.ts';

const tag = 'Email';
const TOKEN_LENGTH_MAX = 1_024;
const LINK_TOKEN_LENGTH_MAX = 8_192;
/** A mail program sends `List-Unsubscribe=One-Click` in a form (RFC 8058); the page's button an empty one. */
const FORM_BYTES_MAX = 4_096;
const params = Type.Object({ token: Type.String({ maxLength: TOKEN_LENGTH_MAX }) });
const page = Type.String({ description: 'A page for people.' });
/** Pages of ours run nothing and are in nobody's frame; their one form leads back to us. */
const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'";
/** The link's target is said by `Location`. */
const FOUND = 302 as number as 200;

export interface PublicRoutesServices {
  readonly unsubscribe: UnsubscribeService;
  readonly events: EmailEvents;
  readonly addresses: TrackedAddresses;
}

/** What recipients of emails reach, without a credential. */
export const publicRoutes = (of: PublicRoutesServices): RouteSpec[] => [
  askRoute(of),
  unsubscribeRoute(of),
  openRoute(of),
  clickRoute(of),
];

const askRoute = ({ unsubscribe }: PublicRoutesServices): RouteSpec =>
  route({
    ...{ method: 'GET', path: `${UNSUBSCRIBE_PATH}/{token}`, operationId: 'showUnsubscribe', tag },
    summary: 'The page of an unsubscribe link',
    description: 'It has a button and changes nothing: mail programs and scanners follow links.',
    ...{ scopes: [], auth: 'none', params, data: page, dataType: 'text/html', errors: ['not-found'] },
    handler: async ({ params: { token }, reply }) => {
      await unsubscribe.check(token);
      reply.header('content-security-policy', PAGE_POLICY);
      return askPage;
    },
  });

const unsubscribeRoute = ({ unsubscribe }: PublicRoutesServices): RouteSpec =>
  route({
    ...{ method: 'POST', path: `${UNSUBSCRIBE_PATH}/{token}`, operationId: 'unsubscribe', tag },
    summary: 'Unsubscribe by one click (RFC 8058)',
    description:
      'Puts the addresses of the email on the do-not-contact list, in entries that cannot be removed.',
    ...{ scopes: [], auth: 'none', params, data: page, dataType: 'text/html', errors: ['not-found'] },
    ...{ bodyKind: 'raw', bodyLimit: FORM_BYTES_MAX },
    handler: async ({ params: { token }, request, reply }) => {
      discard(request);
      await unsubscribe.unsubscribe(token);
      reply.header('content-security-policy', PAGE_POLICY);
      return donePage;
    },
  });

const openRoute = ({ events, addresses }: PublicRoutesServices): RouteSpec =>
  route({
    ...{ method: 'GET', path: `${PIXEL_PATH}/{token}`, operationId: 'openEmail', tag },
    summary: 'The picture that tells that an email was opened',
    ...{ scopes: [], auth: 'none', params, dataType: 'image/gif', errors: ['not-found'] },
    data: Type.String({ description: 'One transparent pixel.' }),
    handler: async ({ params: { token }, reply }) => {
      await events.opened(addresses.openPixel(token));
      reply.header('cache-control', 'no-store');
      return PIXEL;
    },
  });

const clickRoute = ({ events, addresses }: PublicRoutesServices): RouteSpec =>
  route({
    ...{ method: 'GET', path: LINK_PATH, operationId: 'followEmailLink', tag },
    summary: 'A link of an email',
    description: 'Answers 302 to where the link led in the email; nobody can make one that leads elsewhere.',
    ...{ scopes: [], auth: 'none', dataType: 'text/html', errors: ['not-found'], status: FOUND },
    query: Type.Object({ t: Type.String({ maxLength: LINK_TOKEN_LENGTH_MAX }) }),
    data: Type.String({ description: 'Empty.' }),
    handler: async ({ query, reply }) => {
      const link = addresses.openLink(query.t);
      await events.clicked(link);
      reply.header('location', link.target).header('cache-control', 'no-store');
      reply.header('referrer-policy', 'no-referrer');
      return '';
    },
  });

/** A form that says nothing new is read away, so that the connection can be used again. */
function discard({ body }: FastifyRequest): void {
  const stream = body as NodeJS.ReadableStream | undefined;
  stream?.resume();
}
