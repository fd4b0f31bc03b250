import { z } from '../zod_openapi.ts'
import { rowsRead } from '../rows_read.ts'
import { pageOf, timeSchema, uuidSchema } from './common.ts'
import { deadLetterSchema, groupErrorSchema } from './dead_letters.ts'

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
  error: groupErrorSchema.optional().openapi({
    description:
      'Only those whose error has these first 200 characters, as in `GET /dead-letter-groups`.',
    example: 'HTTP 404',
  }),
  ratePerSecond: z.int().min(1).max(1000).default(50).openapi({
    description: 'How many are replayed in a second.',
  }),
}).openapi('NewReplayJob')

/** The same selection, to see what a job would replay. */
export const replayPreviewQuerySchema = newReplayJobSchema.omit({ ratePerSecond: true })
  .openapi('ReplaySelection')

export const replayPreviewSchema = z.object({
  total: z.int().openapi({ description: 'How many dead letters the job would replay.' }),
  capped: z.boolean().openapi({
    description: 'Whether there may be more: 20,000 dead letters were read.',
  }),
  oldestFailedAt: timeSchema.nullable(),
  failedTo: timeSchema.openapi({
    description: 'Pass it to the job, so that it replays no dead letter that came later.',
  }),
  sample: z.array(deadLetterSchema).openapi({ description: 'The newest 5.' }),
}).openapi('ReplayPreview')

/** The preview as the database returns it. */
export const replayPreviewRows = replayPreviewSchema.extend({ rows: rowsRead })

/** Selects the kept events to send to the endpoint, and the rate. */
export const newBackfillSchema = z.strictObject({
  eventTypes: z.array(z.string().min(1).max(128)).min(1).max(100).optional().openapi({
    description: 'Only these of the event types that the endpoint is subscribed to.',
    example: ['order.*'],
  }),
  from: z.iso.datetime({ offset: true }).optional().openapi({
    description: 'Only events that were published at this time or later.',
    example: '2026-11-27T00:00:00Z',
  }),
  until: z.iso.datetime({ offset: true }).optional().openapi({
    description: 'Only events that were published until this time; the default is now.',
  }),
  filter: z.string().min(1).max(1000).optional().openapi({
    description:
      'Only events whose payload passes it, in the language of the filter of an endpoint.',
    example: '$.total > 100',
  }),
  includeDelivered: z.boolean().optional().openapi({
    description:
      'Whether it also sends again what was already delivered to the endpoint, so that its ' +
      'receiver gets these events twice; the default is false.',
  }),
  ratePerSecond: z.int().min(1).max(1000).default(50).openapi({
    description: 'How many are sent in a second.',
  }),
}).openapi('NewBackfill')

/** The same selection, to see what a backfill would send. */
export const backfillPreviewQuerySchema = newBackfillSchema.omit({ ratePerSecond: true })
  .openapi('BackfillSelection')

export const backfillPreviewSchema = z.object({
  total: z.int().openapi({ description: 'How many of the events that were read it would send.' }),
  alreadyDelivered: z.int().openapi({
    description: 'How many of them the endpoint has already got; 0 without `includeDelivered`.',
  }),
  capped: z.boolean().openapi({
    description: 'Whether there may be more: 5,000 events were read, or the filter took too long.',
  }),
  read: z.int().openapi({ description: 'How many events were read, the oldest first.' }),
  readUntil: timeSchema.nullable().openapi({
    description: 'The time of publication of the last event that was read.',
  }),
  until: timeSchema.openapi({
    description: 'Pass it to the job, so that it sends no event that was published later.',
  }),
}).openapi('BackfillPreview')

/** The preview as the database returns it. */
export const backfillPreviewRows = backfillPreviewSchema.extend({ work: z.int() })

const anyJob = {
  id: z.string().openapi({ example: '12' }),
  status: z.enum(['running', 'paused', 'done', 'cancelled']),
  ratePerSecond: z.int(),
  createdAt: timeSchema,
  finishedAt: timeSchema.nullable(),
}

/** A job that sends dead letters again. */
export const replayJobSchema = z.object({
  ...anyJob,
  source: z.literal('dead_letters'),
  endpointId: uuidSchema.nullable().openapi({ description: 'Null: those of all endpoints.' }),
  eventType: z.string().nullable().openapi({ description: 'Null: those of all event types.' }),
  error: z.string().nullable().openapi({
    description:
      'Only those whose error has these first 200 characters; null: those with any error.',
  }),
  failedFrom: timeSchema.nullable().openapi({
    description: 'Only those that failed at this time or later.',
  }),
  failedTo: timeSchema.openapi({
    description: 'Only those that failed until this time, or until the job was created.',
  }),
  replayed: z.int().openapi({ description: 'How many were replayed so far.' }),
  skipped: z.int().openapi({
    description: 'How many were skipped: they were in flight, or their endpoint is deleted.',
  }),
  reachedAt: timeSchema.nullable().openapi({
    description: 'The failure time of the last dead letter that was processed. The job continues ' +
      'to `failedTo`.',
  }),
}).openapi('ReplayJob')

/** A job that sends kept events to an endpoint that lacks them or has lost them. */
export const backfillSchema = z.object({
  ...anyJob,
  source: z.literal('events'),
  endpointId: uuidSchema,
  eventTypes: z.array(z.string()).nullable().openapi({
    description: 'The event types that it is limited to; null: all that the endpoint gets.',
  }),
  filter: z.string().nullable(),
  includeDelivered: z.boolean().openapi({
    description: 'Whether it also sends again what was already delivered to the endpoint.',
  }),
  from: timeSchema.nullable().openapi({
    description: 'Only events that were published at this time or later.',
  }),
  until: timeSchema.openapi({
    description: 'Only events that were published until this time, or until the job began.',
  }),
  read: z.int().openapi({
    description: 'How many events it has read so far, also of those that are not sent.',
  }),
  sent: z.int().openapi({ description: 'How many it has sent to the endpoint so far.' }),
  skipped: z.int().openapi({ description: 'How many it could not send.' }),
  reachedAt: timeSchema.nullable().openapi({
    description: 'The time of publication of the last event that it has read. The job continues ' +
      'to `until`.',
  }),
}).openapi('Backfill')

/** Of a list: a replay job or a backfill, by its `source`. */
export const anyJobSchema = z.discriminatedUnion('source', [replayJobSchema, backfillSchema])
  .openapi('AnyJob')

export const replayJobPageSchema = pageOf(anyJobSchema).openapi('ReplayJobPage')

export const replayJobParams = z.object({
  replayJobId: z.string().regex(/^[0-9]{1,18}$/, 'is not the id of a replay job').openapi({
    param: { name: 'replayJobId', in: 'path' },
    example: '12',
  }),
})
