import type { DetectionKeyStatus } from './credentials.rules.ts';
import type { DetectionKey } from './detection-keys.service.ts';

/** The fields of the contract (Resources, Detection key) that every answer has. */
const fieldsOf = (key: DetectionKey) => ({
  key_id: key.keyId,
  name: key.name,
  key_hint: key.keyHint,
  created_at: key.createdAtMs,
  expires_at: key.expiresAtMs,
});

export const presentDetectionKey = (key: DetectionKey & { status: DetectionKeyStatus }) => ({
  ...fieldsOf(key),
  status: key.status,
});

export const presentMadeDetectionKey = (key: DetectionKey & { apiKey: string }) => ({
  ...fieldsOf(key),
  api_key: key.apiKey,
});
