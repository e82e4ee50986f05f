import type { DetectionKeyStatus } from './credentials.rules.ts';
import type { DetectionKey } from './detection-keys.service.ts';

/** The Detection key of the contract (Resources, Detection key). */
export function presentDetectionKey(
  key: DetectionKey & { apiKey?: string; status?: DetectionKeyStatus },
): Record<string, string | number | null> {
  return {
    key_id: key.keyId,
    name: key.name,
    ...(key.apiKey === undefined ? {} : { api_key: key.apiKey }),
    key_hint: key.keyHint,
    ...(key.status === undefined ? {} : { status: key.status }),
    created_at: key.createdAtMs,
    expires_at: key.expiresAtMs,
  };
}
