import type { FastifyRequest } from 'fastify';
import type { RequestCredentials, TeamCredentials } from './route.type.ts';

/** Longer ones are no credential of ours; they are cut so that nothing is hashed or looked up for them at length. */
const CREDENTIAL_LENGTH_MAX = 8_192;
const CREDENTIAL_HEADERS = ['x-key', 'x-secret', 'authorization'] as const;
const BEARER = /^Bearer +(\S+)$/i;

/** The credentials that a request carries, unjudged (interface.md, Authentication, Credentials). */
export function credentialsOf(request: Pick<FastifyRequest, 'headers'>): RequestCredentials {
  const key = textOf(request.headers['x-key']);
  const secret = textOf(request.headers['x-secret']);
  const bearer = BEARER.exec(textOf(request.headers.authorization) ?? '')?.[1];
  return {
    ...(key === undefined ? {} : { key }),
    ...(secret === undefined ? {} : { secret }),
    ...(bearer === undefined ? {} : { bearer }),
  };
}

/** Whether a request has any header that carries a credential, also half of one or one of another kind. */
export const hasCredential = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  CREDENTIAL_HEADERS.some((name) => headers[name] !== undefined);

/** What is missing is empty: no account and no secret are. */
export const teamCredentialsOf = ({ headers }: Pick<FastifyRequest, 'headers'>): TeamCredentials => ({
  teamId: textOf(headers['x-team-id']) ?? '',
  secret: textOf(headers['x-secret']) ?? '',
});

const textOf = (header: string | string[] | undefined): string | undefined =>
  typeof header === 'string' ? header.slice(0, CREDENTIAL_LENGTH_MAX) : undefined;
