import { isScope } from '../../kernel/caller.ts';
import type { Scope } from '../../kernel/caller.ts';
import { Problem } from '../../kernel/problem.ts';

/** Clients of one account that are not revoked. */
export const CLIENTS_MAX = 100;
const NAME_LENGTH_MAX = 100;
/** Redirect addresses of one client, and the length of each. */
const REDIRECT_URIS_MAX = 10;
const REDIRECT_URI_LENGTH_MAX = 2_000;
/** RFC 8252, 7.3: http only to the user's own machine. */
const LOOPBACKS = new Set(['127.0.0.1', '[::1]', 'localhost']);

export interface NewClient {
  readonly name: string;
  readonly scopes: readonly string[];
  /** None: a machine client with a secret. Some: a public client without one, for user sign-in with PKCE. */
  readonly redirectUris?: readonly string[];
}

export interface CheckedClient {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly redirectUris: readonly string[];
}

const invalid = (field: string, detail: string): Problem =>
  new Problem('validation-error', detail, { field });

/** @throws Problem validation-error */
export function checkClient(input: NewClient): CheckedClient {
  const { name, scopes, redirectUris = [] } = input;
  if (name.trim() === '' || [...name].length > NAME_LENGTH_MAX || name.includes('\0')) {
    throw invalid('name', `name must be a text of 1 to ${NAME_LENGTH_MAX} characters.`);
  }
  const known = [...new Set(scopes)].filter(isScope);
  if (known.length === 0 || known.length !== new Set(scopes).size) {
    throw invalid('scopes', 'scopes must be a list of at least one scope, each of the contract.');
  }
  if (redirectUris.length > REDIRECT_URIS_MAX) {
    throw invalid('redirect_uris', `A client has at most ${REDIRECT_URIS_MAX} redirect addresses.`);
  }
  for (const uri of redirectUris) checkRedirectUri(uri);
  return { name, scopes: known, redirectUris: [...new Set(redirectUris)] };
}

/** https, or http to a loopback address; no fragment (RFC 6749, 3.1.2) and no credentials. It is matched exactly. */
function checkRedirectUri(uri: string): void {
  const isUsable = uri.length <= REDIRECT_URI_LENGTH_MAX && /^[\x21-\x7e]+$/.test(uri) && URL.canParse(uri);
  const parsed = isUsable ? new URL(uri) : null;
  const isSafe =
    parsed?.protocol === 'https:' || (parsed?.protocol === 'http:' && LOOPBACKS.has(parsed.hostname));
  if (!parsed || !isSafe || uri.includes('#') || parsed.username !== '' || parsed.password !== '') {
    throw invalid(
      'redirect_uri',
      'A redirect address must be https (http to a loopback address), without fragment and credentials.',
    );
  }
}
