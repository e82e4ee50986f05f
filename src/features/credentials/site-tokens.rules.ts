import type { Scope } from '../../kernel/caller.ts';
import { invalidField } from '../../kernel/text.ts';

/** What a site token is for (contract, Site token scopes). */
export const SITE_SCOPES = [
  'dialer:webrtc',
  'phone:hub',
  'contacts',
  'campaigns',
  'media',
  'voice',
  'detection',
] as const;
export type SiteScope = (typeof SITE_SCOPES)[number];

const DEFAULT_SCOPES: readonly SiteScope[] = ['dialer:webrtc'];
/** Contract, Limits. */
export const TTL_SEC_MAX = 3_600;
export const REFERENCE_LENGTH_MAX = 255;
/** Every scope named once fits well. */
export const SCOPE_TEXT_LENGTH_MAX = 256;

/**
 * What each scope opens in this interface (supplement 13, Site tokens). The dialer's two and `detection` open no route
 * here: calls and sessions have gates of their own.
 */
const OPENS: Readonly<Record<SiteScope, readonly Scope[]>> = {
  'dialer:webrtc': [],
  'phone:hub': [],
  contacts: ['contacts:read'],
  campaigns: ['campaigns:read', 'campaigns:send'],
  media: ['media:read'],
  voice: ['media:read'],
  detection: [],
};

export const opens = (scopes: readonly SiteScope[]): Scope[] => [
  ...new Set(scopes.flatMap((scope) => OPENS[scope])),
];

/** All that any site token may open: these routes answer to browsers of other origins. */
export const SITE_TOKEN_OPENS: ReadonlySet<Scope> = new Set(opens(SITE_SCOPES));

/** Whether a token of these places calls on the account's own carrier (contract, Authentication 7). */
export const placesCalls = (scopes: readonly SiteScope[]): boolean =>
  scopes.includes('dialer:webrtc') || scopes.includes('phone:hub');

export const isSiteScope = (text: unknown): text is SiteScope =>
  (SITE_SCOPES as readonly unknown[]).includes(text);

export interface NewSiteToken {
  siteId?: unknown;
  /** The integrator's own id of the visitor. */
  sub?: unknown;
  /** Values separated by spaces, or an array of them. */
  scope?: unknown;
  ttlSeconds?: unknown;
}

export interface SiteTokenOrder {
  siteId: string | null;
  sub: string | null;
  scopes: SiteScope[];
  ttlSec: number;
}

/** @throws Problem validation-error */
export function orderOf(input: NewSiteToken): SiteTokenOrder {
  return {
    siteId: reference('site_id', input.siteId),
    sub: reference('sub', input.sub),
    scopes: scopesIn(input.scope),
    ttlSec: ttlOf(input.ttlSeconds),
  };
}

function reference(field: string, value: unknown): string | null {
  if (value === undefined) return null;
  if (
    typeof value !== 'string' ||
    value === '' ||
    value.length > REFERENCE_LENGTH_MAX ||
    value.includes('\0')
  ) {
    throw invalidField(field, `${field} must be a text of 1 to ${REFERENCE_LENGTH_MAX} characters.`);
  }
  return value;
}

function scopesIn(scope: unknown): SiteScope[] {
  if (scope === undefined) return [...DEFAULT_SCOPES];
  const words: unknown =
    typeof scope === 'string' && scope.length <= SCOPE_TEXT_LENGTH_MAX
      ? scope.split(' ').filter(Boolean)
      : scope;
  if (
    !Array.isArray(words) ||
    words.length === 0 ||
    words.length > SITE_SCOPES.length ||
    !words.every(isSiteScope)
  ) {
    throw invalidField('scope', `scope must be one or more of: ${SITE_SCOPES.join(', ')}.`);
  }
  return [...new Set(words)];
}

function ttlOf(ttl: unknown): number {
  if (ttl === undefined) return TTL_SEC_MAX;
  if (typeof ttl !== 'number' || !Number.isInteger(ttl) || ttl < 1 || ttl > TTL_SEC_MAX) {
    throw invalidField('ttl_seconds', `ttl_seconds must be a whole number from 1 to ${TTL_SEC_MAX}.`);
  }
  return ttl;
}
