import { randomBytes, randomUUID } from 'node:crypto';

/** Where ids and secrets come from; a parameter, so that tests can fix them. */
export interface Ids {
  /** RFC 9562 UUID, version 4, lower case. */
  uuid(): string;
  /** `bytes` random bytes as base64url text. */
  secret(bytes: number): string;
}

export const systemIds: Ids = {
  uuid: () => randomUUID(),
  secret: (bytes) => randomBytes(bytes).toString('base64url'),
};

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const isUuid = (text: string): boolean => UUID.test(text);
