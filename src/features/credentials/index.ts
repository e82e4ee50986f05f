export { presentDetectionKey } from './credentials.present.ts';
export type { DetectionKeyStatus, NewKey } from './credentials.rules.ts';
export { DETECTION_KEYS_MAX } from './credentials.rules.ts';
export { DetectionKeyLookup } from './detection-key.lookup.service.ts';
export type { DetectionIdentity } from './detection-key.lookup.service.ts';
export { DetectionKeysService } from './detection-keys.service.ts';
export type { DetectionKey, DetectionKeysOptions } from './detection-keys.service.ts';
export { FirstKeysIssuer } from './key-issuer.service.ts';
