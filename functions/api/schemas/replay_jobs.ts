import { z } from '@hono/zod-openapi'
import { pageOf, timeSchema, uuidSchema } from './common.ts'

/** Which dead letters to send again, and how fast. */
export const newReplayJobSchema = z.strictObject({
  endpointId: uuidSchema.optional(),
  eventType: z.string().min(1).max(128).optional().openapi({ example: 'order.paid' }),
  failedFrom: z.iso.datetime({ offset: true }).optional().openapi({
    description: 'Failed then or later.',
    example: '2026-11-27T00:00:00Z',
  }),
  failedTo: z.iso.datetime({ offset: true }).optional().openapi({
    description: 'Failed until then; by default until now.',
  }),
  ratePerSecond: z.int().min(1).max(1000).default(50).openapi({
    description: 'How many are put back in a second.',
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
  replayed: z.int().openapi({ description: 'How many were put back so far.' }),
  skipped: z.int().openapi({
    description: 'How many were being sent, or had lost their endpoint.',
  }),
  reachedAt: timeSchema.nullable().openapi({
    description: 'When the last letter failed that it came to; it goes on to `failedTo`.',
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
