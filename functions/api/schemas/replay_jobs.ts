import { z } from '@hono/zod-openapi'
import { pageOf, timeSchema, uuidSchema } from './common.ts'

/** The filter and pace of a replay job. */
export const newReplayJobSchema = z.strictObject({
  endpointId: uuidSchema.optional(),
  eventType: z.string().min(1).max(128).optional().openapi({ example: 'order.paid' }),
  failedFrom: z.iso.datetime({ offset: true }).optional().openapi({
    description: 'Failed at or after this time.',
    example: '2026-11-27T00:00:00Z',
  }),
  failedTo: z.iso.datetime({ offset: true }).optional().openapi({
    description: 'Failed up to this time; default: now.',
  }),
  ratePerSecond: z.int().min(1).max(1000).default(50).openapi({
    description: 'Dead letters queued again per second.',
  }),
}).openapi('NewReplayJob')

export const replayJobSchema = z.object({
  id: z.string().openapi({ example: '12' }),
  state: z.enum(['running', 'paused', 'done', 'cancelled']),
  endpointId: uuidSchema.nullable(),
  eventType: z.string().nullable(),
  failedFrom: timeSchema.nullable(),
  failedTo: timeSchema,
  ratePerSecond: z.int(),
  replayed: z.int().openapi({ description: 'Dead letters queued again so far.' }),
  skipped: z.int().openapi({
    description: 'Those in flight, or without an endpoint.',
  }),
  reachedAt: timeSchema.nullable().openapi({
    description: 'The failure time of the last processed letter; the job continues to `failedTo`.',
  }),
  createdAt: timeSchema,
  finishedAt: timeSchema.nullable(),
}).openapi('ReplayJob')

export const replayJobPageSchema = pageOf(replayJobSchema).openapi('ReplayJobPage')

export const replayJobParams = z.object({
  replayJobId: z.string().regex(/^[0-9]{1,18}$/, 'is not the id of a replay job').openapi({
    param: { name: 'replayJobId', in: 'path' },
    example: '12',
  }),
})
