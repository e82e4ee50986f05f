/** Brands of one account. */
export const BRANDS_MAX = 500;

export type TextingCampaignStatus = 'none' | 'pending' | 'approved' | 'rejected';

export interface Registration {
  registered: boolean;
  apiAllowed: boolean;
  textingCampaignStatus: TextingCampaignStatus;
}

/**
 * How a brand stands right after its names were given (supplement 12, REST): the built-in simulator registers it and
 * approves its texting campaign at once, a connected carrier has yet to.
 */
export function registrationWith(hasCarrier: boolean): Registration {
  return hasCarrier
    ? { registered: false, apiAllowed: false, textingCampaignStatus: 'pending' }
    : { registered: true, apiAllowed: true, textingCampaignStatus: 'approved' };
}
