/** What is used of oidc-provider 9, which carries no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  /** Koa's context with the provider's own part, which is there on its routes only. */
  export interface OidcContext {
    readonly req: IncomingMessage;
    readonly oidc?: {
      readonly route: string;
      readonly body?: Record<string, unknown>;
      readonly params?: Record<string, unknown>;
      readonly entities: { readonly Client?: OidcClient };
    };
    readonly state: Record<string, unknown>;
    readonly path: string;
    status: number;
    type: string;
    body: unknown;
    set(header: string, value: string): void;
  }

  export interface OidcClient {
    readonly clientId: string;
    readonly clientSecret?: string;
    readonly redirectUris: string[];
    readonly scope?: string;
    readonly team_id: string;
    compareClientSecret(given: string): boolean | Promise<boolean>;
  }

  export interface OidcAdapter {
    upsert(id: string, payload: Record<string, unknown>, expiresInSec?: number): Promise<void>;
    find(id: string): Promise<object | undefined>;
    findByUid(uid: string): Promise<object | undefined>;
    findByUserCode(userCode: string): Promise<object | undefined>;
    consume(id: string): Promise<void>;
    destroy(id: string): Promise<void>;
    revokeByGrantId(grantId: string): Promise<void>;
  }

  export class Provider {
    constructor(issuer: string, configuration: object);
    /** The request under way. */
    static readonly ctx: OidcContext | undefined;
    /** Whether X-Forwarded-Proto and -For of a request are believed. */
    proxy: boolean;
    readonly Client: { readonly prototype: OidcClient };
    use(middleware: (ctx: OidcContext, next: () => Promise<void>) => Promise<void>): this;
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
    on(event: 'error', listener: (error: Error) => void): this;
    on(event: 'server_error', listener: (ctx: OidcContext, error: Error) => void): this;
  }

  export class OidcError extends Error {
    constructor(description?: string);
  }

  export const errors: {
    readonly OIDCProviderError: new (status: number, error: string) => Error;
    readonly InvalidTarget: typeof OidcError;
    readonly InvalidGrant: new () => Error;
    readonly TemporarilyUnavailable: typeof OidcError;
  };

  export const interactionPolicy: {
    readonly Prompt: new (of: { name: string; requestable: boolean }, ...checks: unknown[]) => unknown;
    readonly Check: new (
      reason: string,
      description: string,
      error: string,
      check: (ctx: OidcContext) => boolean,
    ) => unknown;
  };
}
