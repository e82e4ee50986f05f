import { Type } from '@sinclair/typebox';
import type { TObject } from '@sinclair/typebox';
import { envelopeOf } from './event-data.schema.ts';
import { EVENT_TYPES } from './event-types.rules.ts';

/** JSON Schemas of webhook bodies by name: `webhook.envelope` for any event, and one for each event type. */
export function eventSchemas(): Record<string, TObject & { title: string }> {
  const any = envelopeOf(Type.String(), Type.Object({}, { additionalProperties: true }));
  const schemas: Record<string, TObject & { title: string }> = {
    'webhook.envelope': { ...any, title: 'body of a webhook' },
  };
  for (const { eventType, description, schema } of EVENT_TYPES) {
    const body = envelopeOf(Type.Literal(eventType), schema);
    schemas[eventType] = { ...body, title: `body of ${eventType}`, description };
  }
  return schemas;
}
