import type { ApiKey, MadeApiKey } from './api-keys.service.ts';

/** The fields of the contract (Resources, API key) that every answer has. */
const fieldsOf = (key: Omit<ApiKey, 'suspended' | 'lastUsedAtMs' | 'requestCount'>) => ({
  _id: key.keyId,
  name: key.name,
  key: key.key,
  type: key.type,
  team_id: key.teamId,
  scopes: [...key.scopes],
  mcp_client: key.mcpClient,
  created_at: key.createdAtMs,
  expires_at: key.expiresAtMs,
});

export const presentApiKey = (key: ApiKey) => ({
  ...fieldsOf(key),
  last_used_at: key.lastUsedAtMs,
  request_count: key.requestCount,
});

export const presentMadeApiKey = (key: MadeApiKey) => ({ ...fieldsOf(key), secret: key.secret });
