import type { OauthClient } from './clients.service.ts';

/** An OAuth client; its secret only where it was just made, null for a public one. */
export function presentClient(client: OauthClient & { clientSecret?: string | null }) {
  return {
    client_id: client.clientId,
    ...(client.clientSecret === undefined ? {} : { client_secret: client.clientSecret }),
    name: client.name,
    scopes: [...client.scopes],
    redirect_uris: [...client.redirectUris],
    created_at: client.createdAtMs,
  };
}
