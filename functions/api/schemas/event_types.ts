import { z } from '@hono/zod-openapi'
import { eventTypeName, pageOf, timeSchema } from './common.ts'

const schema = z.union([z.record(z.string(), z.unknown()), z.boolean()]).nullable().openapi({
  description:
    'A JSON Schema (2020-12) of the payload. It may only contain references within itself.',
  example: { type: 'object', required: ['id'] },
})
const settings = {
  description: z.string().max(1000).optional(),
  schema: schema.optional(),
}

export const newEventTypeSchema = z.strictObject({ type: eventTypeName, ...settings })
  .openapi('NewEventType', { example: { type: 'order.paid', description: 'An order is paid' } })

/** All members of an event type; absent ones are cleared. */
export const eventTypeChangeSchema = z.strictObject(settings)
  .openapi('EventTypeChange', { example: { description: 'An order is paid' } })

export const eventTypeSchema = z.object({
  type: z.string(),
  description: z.string(),
  schema,
  createdAt: timeSchema,
  updatedAt: timeSchema,
}).openapi('EventType')
export const eventTypePageSchema = pageOf(eventTypeSchema).openapi('EventTypePage')

export const eventTypeParams = z.object({
  type: eventTypeName.openapi({ param: { name: 'type', in: 'path' } }),
})

/** Whether the catalogue is strict. */
export const catalogueSettingsSchema = z.strictObject({
  strict: z.boolean().openapi({
    description:
      'Refuse events of unknown types, and payloads that do not fit the schema of their type.',
  }),
}).openapi('CatalogueSettings', { example: { strict: true } })
