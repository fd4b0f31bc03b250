import { z } from '../zod_openapi.ts'
import {
  correlationIdSchema,
  eventTypeName,
  pageOf,
  pageQuery,
  timeQuery,
  timeSchema,
  uuidSchema,
} from './common.ts'
import { deliverySchema } from './deliveries.ts'

/** W3C Trace Context, level 1. */
export const traceparentForm = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

/** The longest batch. PostgREST and the statement timeout allow more. */
export const mostEvents = 1000

const settings = {
  partitionKey: z.string().min(1).max(256).optional().openapi({
    description: 'Ordered endpoints receive events with the same key in order.',
  }),
  correlationId: correlationIdSchema.optional(),
  traceparent: z.string().regex(
    traceparentForm,
    'is not a W3C trace context',
  ).optional().openapi({ example: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' }),
  endpointId: uuidSchema.optional().openapi({
    description: 'Deliver only to this endpoint, whatever its subscriptions are.',
  }),
  deliverAt: z.iso.datetime({ offset: true }).optional().openapi({
    description: 'Do not deliver before this time; at most 30 days ahead.',
  }),
}

/** A new event. */
export const newEventSchema = z.strictObject({
  type: eventTypeName,
  payload: z.unknown().openapi({
    description: 'Any JSON. It is stored and sent byte for byte.',
  }),
  ...settings,
}).openapi('NewEvent', {
  example: { type: 'order.paid', payload: { id: 1, amount: 1.1 } },
  required: ['type', 'payload'],
})

/** Several new events. */
export const eventBatchSchema = z.strictObject({
  events: z.array(
    // Not an extension of NewEvent, which allows no other member: allOf of both allows nothing.
    z.strictObject({
      ...newEventSchema.shape,
      idempotencyKey: z.string().regex(/^[\x21-\x7e]{1,255}$/, 'is not 1 to 255 visible characters')
        .optional().openapi({ description: 'The idempotency key of this event.' }),
    }).openapi('BatchEvent', { required: ['type', 'payload'] }),
  ).min(1).max(mostEvents),
}).openapi('EventBatch', {
  example: { events: [{ type: 'order.paid', payload: { id: 1 } }] },
})

export const publishedSchema = z.object({
  id: uuidSchema,
  duplicate: z.boolean().openapi({
    description: 'An earlier event has this idempotency key: `id` is its id, nothing is published.',
  }),
}).openapi('Published')
export const batchPublishedSchema = z.object({
  ids: z.array(uuidSchema).openapi({ description: 'In the order of the events.' }),
  duplicates: z.array(z.int()).openapi({
    description:
      'The places, from 0, of events that are not published, because an earlier event has their ' +
      'idempotency key. `ids` has the id of the earlier event.',
  }),
}).openapi('BatchPublished')

const listed = z.object({
  id: uuidSchema,
  type: z.string(),
  partitionKey: z.string().nullable(),
  correlationId: z.string().nullable(),
  idempotencyKey: z.string().nullable(),
  traceparent: z.string().nullable(),
  endpointId: uuidSchema.nullable(),
  deliverAt: timeSchema.nullable(),
  createdAt: timeSchema,
})

/** An event of a list, without its payload. */
export const eventSchema = listed.openapi('Event')
export const eventPageSchema = pageOf(eventSchema).openapi('EventPage')

const details = {
  routing: z.enum(['waiting', 'done', 'set_aside']).openapi({
    description:
      'waiting: not routed yet; done: its deliveries exist; set_aside: routing failed three times.',
  }),
  deliveries: z.array(deliverySchema).openapi({ description: 'The first 1,000.' }),
}

/** An event from SQL, with its payload as text. */
export const storedEventSchema = listed.extend({ ...details, body: z.string() })

/** An event with its payload and its deliveries. */
export const eventDetailSchema = listed.extend({
  ...details,
  payload: z.unknown().openapi({ description: 'The payload as it was published, byte for byte.' }),
}).openapi('EventDetail')

export const eventParams = z.object({
  eventId: uuidSchema.openapi({ param: { name: 'eventId', in: 'path' } }),
})

export const eventsQuery = z.strictObject({
  ...pageQuery,
  ...timeQuery,
  type: eventTypeName.optional(),
  partitionKey: z.string().min(1).max(256).optional(),
})
