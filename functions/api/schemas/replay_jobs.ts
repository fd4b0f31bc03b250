import { z } from '@hono/zod-openapi'
import { pageOf, timeSchema, uuidSchema } from './common.ts'

/** Selects the dead letters to send again, and the rate. */
export const newReplayJobSchema = z.strictObject({
  endpointId: uuidSchema.optional(),
  eventType: z.string().min(1).max(128).optional().openapi({ example: 'order.paid' }),
  failedFrom: z.iso.datetime({ offset: true }).optional().openapi({
    description: 'Only those that failed at this time or later.',
    example: '2026-11-27T00:00:00Z',
  }),
  failedTo: z.iso.datetime({ offset: true }).optional().openapi({
    description: 'Only those that failed until this time; the default is now.',
  }),
  ratePerSecond: z.int().min(1).max(1000).default(50).openapi({
    description: 'How many are replayed in a second.',
  }),
}).openapi('NewReplayJob')

export const replayJobSchema = z.object({
  id: z.string().openapi({ example: '12' }),
  status: z.enum(['running', 'paused', 'done', 'cancelled']),
  endpointId: uuidSchema.nullable(),
  eventType: z.string().nullable(),
  failedFrom: timeSchema.nullable(),
  failedTo: timeSchema,
  ratePerSecond: z.int(),
  replayed: z.int().openapi({ description: 'How many were replayed so far.' }),
  skipped: z.int().openapi({
    description: 'How many were skipped: they were in flight, or their endpoint is deleted.',
  }),
  reachedAt: timeSchema.nullable().openapi({
    description:
      'The failure time of the last dead letter that was processed. The job continues to `failedTo`.',
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
