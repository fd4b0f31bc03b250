import { z } from '../zod_openapi.ts'
import { eventTypeName, pageOf, pageQuery, timeSchema } from './common.ts'

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

const memberNames = z.array(z.string())

/** A change of an event type, and what a receiver notices of it. */
const recordedChangeSchema = z.object({
  id: z.string(),
  type: z.string(),
  action: z.enum(['CREATED', 'CHANGED', 'DELETED']).openapi({
    description: 'What was done with the type.',
  }),
  actor: z.string().nullable(),
  at: timeSchema,
  description: z.boolean().openapi({ description: 'Whether the description changed.' }),
  schema: z.boolean().openapi({ description: 'Whether the schema changed.' }),
  otherRules: z.boolean().openapi({
    description:
      'Whether something else of the schema changed: a rule of the whole payload, or a definition.',
  }),
  added: memberNames.openapi({
    description: 'Members of the payload that the schema lists since then.',
    example: ['items[].sku'],
  }),
  removed: memberNames.openapi({ description: 'Members that the schema lists no longer.' }),
  changed: memberNames.openapi({ description: 'Members of which the schema says something else.' }),
  more: z.number().int().openapi({
    description: 'How many names of members are left out: a change has at most 50.',
  }),
})
export const recordedChangePageSchema = pageOf(recordedChangeSchema)
  .openapi('RecordedEventTypeChangePage')

export const recordedChangeQuery = z.strictObject({ ...pageQuery, type: eventTypeName.optional() })

/** Whether the catalogue is strict. */
export const catalogueSettingsSchema = z.strictObject({
  strict: z.boolean().openapi({
    description:
      'Refuse events of unknown types, and payloads that do not fit the schema of their type.',
  }),
}).openapi('CatalogueSettings', { example: { strict: true } })
