import { randomBytes, randomUUID } from 'node:crypto';

/** Where ids and secrets come from; a parameter, so that tests can fix them. */
export interface Ids {
  /** RFC 9562 UUID, version 4, lower case. */
  uuid(): string;
  /** RFC 9562 UUID, version 7: sorts by its epoch millisecond. */
  timed(nowMs: number): string;
  /** `bytes` random bytes as base64url text. */
  secret(bytes: number): string;
}

export const systemIds: Ids = {
  uuid: () => randomUUID(),
  timed: (nowMs) => {
    const time = nowMs.toString(16).padStart(12, '0');
    // Version 4 has the variant and the random bits in the same places.
    return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
  },
  secret: (bytes) => randomBytes(bytes).toString('base64url'),
};

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const isUuid = (text: string): boolean => UUID.test(text);
