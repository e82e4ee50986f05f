import type { Line } from './lines.store.ts';

/** A phone line on the wire (supplement 6). `ivr_id` is the same id: AI agent events name the line called by it. */
export const presentLine = (line: Line) => ({
  ivr_id: line.lineId,
  phone_line_id: line.lineId,
  name: line.name,
  type: line.type,
  is_default: line.isDefault,
  brand_id: line.brandId,
  created_at: line.createdAtMs,
});
