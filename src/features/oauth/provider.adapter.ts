import { createHash } from 'node:crypto';
import type { OidcAdapter } from 'oidc-provider';
import type { Clock } from '../../kernel/clock.ts';
import { isUuid } from '../../kernel/ids.ts';
import type { Artifact, ArtifactsStore } from './artifacts.store.ts';
import type { ClientRow, ClientsStore } from './clients.store.ts';

export interface AdapterOptions {
  readonly artifacts: ArtifactsStore;
  readonly clients: ClientsStore;
  readonly clock: Clock;
  /** What a code or token that two requests used at once is refused with. */
  readonly usedTwice: () => Error;
}

/** Artifacts whose id is the secret itself: only its hash is stored. */
const BEARER_MODELS = new Set(['AccessToken', 'AuthorizationCode', 'RefreshToken']);

/** The library's storage: clients from oauth_clients (revoked ones are not there), everything else from oauth_artifacts. */
export function createAdapter(options: AdapterOptions): (model: string) => OidcAdapter {
  return (model) =>
    model === 'Client' ? new ClientsAdapter(options.clients) : new ArtifactsAdapter(model, options);
}

class ArtifactsAdapter implements OidcAdapter {
  readonly #model: string;
  readonly #options: AdapterOptions;

  constructor(model: string, options: AdapterOptions) {
    this.#model = model;
    this.#options = options;
  }

  async upsert(id: string, payload: Record<string, unknown>, expiresInSec?: number): Promise<void> {
    const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
    const kept = this.#isBearer() ? { ...payload, jti: undefined } : payload;
    const nowMs = this.#options.clock.nowMs();
    await this.#options.artifacts.upsert({
      ...{ model: this.#model, id: this.#keyOf(id), payload: kept },
      ...{ grantId: text(payload.grantId), uid: text(payload.uid), userCode: text(payload.userCode) },
      expiresAt: expiresInSec === undefined ? null : new Date(nowMs + expiresInSec * 1_000),
    });
  }

  async find(id: string): Promise<object | undefined> {
    const found = presented(await this.#options.artifacts.find(this.#model, 'id', this.#keyOf(id)));
    return found && this.#isBearer() ? { ...found, jti: id } : found;
  }

  async findByUid(uid: string): Promise<object | undefined> {
    return presented(await this.#options.artifacts.find(this.#model, 'uid', uid));
  }

  async findByUserCode(userCode: string): Promise<object | undefined> {
    return presented(await this.#options.artifacts.find(this.#model, 'user_code', userCode));
  }

  async consume(id: string): Promise<void> {
    const { artifacts, clock, usedTwice } = this.#options;
    if (!(await artifacts.consume(this.#model, this.#keyOf(id), new Date(clock.nowMs())))) throw usedTwice();
  }

  async destroy(id: string): Promise<void> {
    await this.#options.artifacts.remove(this.#model, this.#keyOf(id));
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    await this.#options.artifacts.removeGrant(grantId);
  }

  #isBearer(): boolean {
    return BEARER_MODELS.has(this.#model);
  }

  #keyOf(id: string): string {
    return this.#isBearer() ? createHash('sha256').update(id).digest('base64url') : id;
  }
}

function presented(found: Artifact | null): object | undefined {
  if (!found) return undefined;
  const consumed =
    found.consumedAt === null ? {} : { consumed: Math.floor(found.consumedAt.getTime() / 1_000) };
  return { ...found.payload, ...consumed };
}

/** Clients are made and revoked by their service alone. */
class ClientsAdapter implements OidcAdapter {
  readonly #clients: ClientsStore;

  constructor(clients: ClientsStore) {
    this.#clients = clients;
  }

  async find(id: string): Promise<object | undefined> {
    const client = isUuid(id) ? await this.#clients.find(id) : null;
    return client ? metadataOf(client) : undefined;
  }

  findByUid = notForClients;
  findByUserCode = notForClients;
  upsert = notForClients;
  consume = notForClients;
  destroy = notForClients;
  revokeByGrantId = notForClients;
}

async function notForClients(): Promise<never> {
  throw new Error('the OAuth library changes no clients');
}

/** RFC 7591 metadata. `client_secret` is the stored hash: the provider compares by it. */
function metadataOf(client: ClientRow): object {
  const shared = { client_id: client.clientId, client_name: client.name, team_id: client.teamId };
  if (client.secretHash === null) {
    return {
      ...{ ...shared, scope: ['openid', 'offline_access', ...client.scopes].join(' ') },
      ...{ token_endpoint_auth_method: 'none', redirect_uris: client.redirectUris },
      ...{ grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] },
    };
  }
  return {
    ...{ ...shared, scope: client.scopes.join(' '), client_secret: client.secretHash.toString('base64url') },
    ...{ grant_types: ['client_credentials'], response_types: [], redirect_uris: [] },
    token_endpoint_auth_method: 'client_secret_post',
  };
}
