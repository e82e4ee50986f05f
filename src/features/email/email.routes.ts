import { Type } from '@sinclair/typebox';
import type { Static } from '@sinclair/typebox';
import { route } from '../../platform/http/index.ts';
import type { RouteSpec } from '../../platform/http/index.ts';
import { presentEmail } from './email.present.ts';
import type { NewEmailParts } from './email.rules.ts';
import { EmailBody, EmailData, EmailQuery, SentData, TemplateEmailBody } from './email.schema.ts';
import type { EmailService } from './email.service.ts';
import type { EmailHistory } from './history.service.ts';

const PATH = '/email/public/email';
const tag = 'Email';
const ANSWER = `The answer comes after the attempt: 200 also when nothing was sent, then \`success\` is false and \`error\` says
why. The account's gates (403, 402) are answered before all else.`;

type Parts = Omit<Static<typeof EmailBody>, 'subject' | 'html' | 'text' | 'template_id'>;

const partsOf = (body: Parts): NewEmailParts => ({
  ...{ to: body.to, contactId: body.contact_id, mailboxId: body.mailbox_id, from: body.from },
  ...{ cc: body.cc, bcc: body.bcc, sendType: body.send_type, preview: body.preview, brandId: body.brand_id },
});

const sendRoute = (email: EmailService): RouteSpec =>
  route({
    ...{ method: 'POST', path: PATH, operationId: 'sendEmail', tag },
    summary: 'Send an email',
    description: `${ANSWER} With the header \`Idempotency-Key\` a repeated request is not sent again and is answered as the
first one; the key with another body is 409.`,
    scopes: ['email:send'],
    body: EmailBody,
    data: SentData,
    errors: ['payment-required', 'conflict'],
    refusals: true,
    example: {
      body: {
        to: [{ address: 'ada@example.com', name: 'Ada Example' }],
        from: { address: 'news@mail.example.com', name: 'Example Ltd' },
        ...{ subject: 'Your order is ready', html: '<p>It is ready.</p>' },
      },
    },
    handler: async ({ caller, body, request }) => {
      const { subject, html, text, template_id: templateId } = body;
      const header = request.headers['idempotency-key'];
      const idempotencyKey = Array.isArray(header) ? header.join(', ') : header;
      const input = { ...partsOf(body), subject, html, text, templateId };
      return email.send(caller, input, { body, idempotencyKey });
    },
  });

const sendTemplateRoute = (email: EmailService): RouteSpec =>
  route({
    ...{ method: 'POST', path: `${PATH}/merged-template`, operationId: 'sendTemplateEmail', tag },
    summary: 'Send a saved email with its merge fields filled in',
    description: `${ANSWER} Values are text: what they hold of HTML is shown, not obeyed.`,
    scopes: ['email:send'],
    body: TemplateEmailBody,
    data: SentData,
    errors: ['payment-required', 'not-found'],
    refusals: true,
    example: {
      body: {
        template_id: '00000000-0000-4000-8000-000000000000',
        to: [{ address: 'ada@example.com', name: 'Ada Example' }],
        from: { address: 'news@mail.example.com', name: 'Example Ltd' },
        subject_override: 'Welcome, {{contact.first_name|there}}',
      },
    },
    handler: async ({ caller, body }) =>
      email.sendTemplate(caller, {
        ...{ ...partsOf(body), templateId: body.template_id },
        ...{ subjectOverride: body.subject_override, mergedUserId: body.merged_user_id },
      }),
  });

const listRoute = (history: EmailHistory): RouteSpec =>
  route({
    ...{ method: 'GET', path: PATH, operationId: 'listEmails', tag },
    summary: 'Emails both ways, newest first',
    description: 'Blocked ones are in it, and in its total.',
    scopes: ['contacts:read'],
    query: EmailQuery,
    data: Type.Object({
      emails: Type.Array(EmailData),
      total: Type.Optional(Type.Integer({ description: 'With include_total.' })),
    }),
    example: { query: { direction: 'outbound', limit: 50, include_total: true } },
    handler: async ({ caller, query }) => {
      const { contact_id: contactId, include_total: includeTotal, ...rest } = query;
      const { emails, total } = await history.list(caller, { ...rest, contactId, includeTotal });
      return { emails: emails.map(presentEmail), ...(total === null ? {} : { total }) };
    },
  });

/** Routes of the contract's section Email. */
export const sendingRoutes = (of: { email: EmailService; history: EmailHistory }): RouteSpec[] => [
  sendRoute(of.email),
  sendTemplateRoute(of.email),
  listRoute(of.history),
];
