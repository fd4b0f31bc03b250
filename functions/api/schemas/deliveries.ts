import { z } from '../zod_openapi.ts'
import { eventTypeName, pageOf, pageQuery, timeQuery, timeSchema, uuidSchema } from './common.ts'

const statuses = [
  'pending',
  'processing',
  'retrying',
  'held',
  'delivered',
  'dead_letter',
  'cancelled',
  'expired',
  'filter_error',
  'event_missing',
] as const

export const deliveryStatus = z.enum(statuses).openapi({
  description:
    'retrying: waits for its next attempt; held: cannot be attempted now, `reason` says why.',
})

/** One event for one endpoint. */
export const deliverySchema = z.object({
  id: z.string().openapi({
    description: 'The ids of the event and the endpoint, separated by a dot.',
  }),
  eventId: uuidSchema,
  endpointId: uuidSchema,
  eventType: z.string(),
  status: deliveryStatus,
  reason: z.string().nullable(),
  attempt: z.int().openapi({ description: 'The number of the last attempt.' }),
  failedAttempts: z.int().nullable().openapi({
    description:
      'The failed attempts since its creation or its last replay; null for an event without a subscriber.',
  }),
  nextAttemptAt: timeSchema.nullable(),
  createdAt: timeSchema.openapi({ description: 'The time of the event.' }),
  finishedAt: timeSchema.nullable(),
}).openapi('Delivery')
export const deliveryPageSchema = pageOf(deliverySchema).openapi('DeliveryPage')

/** An attempt. */
export const attemptSchema = z.object({
  attempt: z.int(),
  kind: z.enum(['attempt', 'close']).openapi({
    description:
      'close: the delivery ended without an attempt, such as by cancelling, or by a replay of its broker.',
  }),
  outcome: z.string(),
  at: timeSchema,
  status: z.int().nullable().openapi({ description: 'The HTTP status.' }),
  errorClass: z.string().nullable(),
  error: z.string().nullable(),
  durationMs: z.int().nullable(),
  response: z.string().nullable().openapi({ description: 'The start of the response body.' }),
  responseCut: z.boolean().openapi({ description: 'Whether the body was longer.' }),
  resent: z.boolean().openapi({
    description:
      'Whether the request was sent twice, because the first connection was already closed.',
  }),
  endpointVersion: z.int().nullable().openapi({
    description:
      'The version of the endpoint with which the attempt was made; null for an end without an attempt, or if the run did not report it.',
  }),
  nextRetryAt: timeSchema.nullable(),
}).openapi('Attempt')
export const attemptPageSchema = pageOf(attemptSchema).openapi('AttemptPage')

const uuidForm = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}'
export const deliveryParams = z.object({
  deliveryId: z.string().regex(
    new RegExp(`^${uuidForm}\\.${uuidForm}$`),
    'is not the ids of an event and an endpoint with a dot between',
  ).openapi({
    param: { name: 'deliveryId', in: 'path' },
    example: '01a2203a-0510-79a1-bb91-f1e06b0cb7a6.5601718c-af4d-4072-8528-9a4e1b376fae',
  }),
})

/** The SQL arguments that name a delivery. */
export function deliveryKey(deliveryId: string): { p_event_id: string; p_endpoint_id: string } {
  const [event = '', endpoint = ''] = deliveryId.split('.')
  return { p_event_id: event, p_endpoint_id: endpoint }
}

export const attemptsQuery = z.strictObject(pageQuery)
export const deliveriesQuery = z.strictObject({
  ...pageQuery,
  ...timeQuery,
  status: z.enum(['open', ...statuses]).optional().openapi({
    param: { description: 'open: not finished, which is pending, processing, retrying or held.' },
  }),
  dueFrom: z.iso.datetime({ offset: true }).optional().openapi({
    param: { description: 'Only if the next attempt is due at this time or later.' },
  }),
  dueTo: z.iso.datetime({ offset: true }).optional().openapi({
    param: { description: 'Only if the next attempt is due before this time.' },
  }),
  endpointId: uuidSchema.optional(),
  eventType: eventTypeName.optional(),
})
