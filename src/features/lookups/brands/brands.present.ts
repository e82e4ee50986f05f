import type { Brand } from './brands.store.ts';

/** A brand on the wire (supplement 6). */
export const presentBrand = (brand: Brand) => ({
  brand_id: brand.brandId,
  company_name: brand.companyName,
  dba_name: brand.dbaName,
  registered: brand.registered,
  api_allowed: brand.apiAllowed,
  texting_campaign_status: brand.textingCampaignStatus,
  created_at: brand.createdAtMs,
  updated_at: brand.updatedAtMs,
});
