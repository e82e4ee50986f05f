import { detectionPolicy } from './delivery.policy.rules.ts';
import type { DeliveryTargets, Target } from './delivery.targets.type.ts';
import { SigningKeys } from './signing-keys.ts';
import type { PendingDelivery } from './webhooks.store.ts';

/** Deliveries of detection sessions: where the welcome said, signed with the session's Detection key. */
export class DetectionTargets implements DeliveryTargets {
  readonly policy = detectionPolicy;
  readonly #signingKeys: SigningKeys;

  /** `signingKey` gives the secret of a key id, null when there is no such key. */
  constructor(signingKey: (keyId: string) => Promise<string | null>) {
    this.#signingKeys = new SigningKeys(signingKey);
  }

  async target({ url, headers, signingKeyId }: PendingDelivery): Promise<Target> {
    return { kind: 'send', url, headers, key: await this.#signingKeys.get(signingKeyId) };
  }

  async settle(): Promise<void> {
    // A session keeps no account of its receiver.
  }
}
