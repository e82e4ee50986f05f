import { SCOPES } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import type { Services } from '../compose.ts';

/** The command line acts as the account's owner. */
export async function ownerOf(services: Services, teamId: string): Promise<Caller> {
  const userId = await services.accounts.ownerId(teamId);
  return {
    ...{ kind: 'api_key', teamId, userId, scopes: new Set(SCOPES), operator: true },
    ...{ role: null, credentialId: 'command line' },
  };
}
