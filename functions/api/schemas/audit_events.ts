import { z } from '@hono/zod-openapi'
import { correlationIdSchema, pageOf, pageQuery, timeSchema } from './common.ts'
import { numberIdSchema } from './messages.ts'

/** A row of the audit trail. */
export const auditEventSchema = z.object({
  id: numberIdSchema,
  entityType: z.string().openapi({ example: 'OUTBOUND_MESSAGE' }),
  entityId: z.string(),
  action: z.string().openapi({ example: 'SENT' }),
  details: z.string(),
  actor: z.string().nullable(),
  correlationId: z.string().nullable().openapi({
    description: 'The correlation id of the message, if the row is about one.',
  }),
  at: timeSchema,
})

export const auditPageSchema = pageOf(auditEventSchema).openapi('AuditEventPage')

export const auditQuery = z.strictObject({
  ...pageQuery,
  entityType: z.string().min(1).max(64).optional(),
  entityId: z.string().min(1).max(200).optional(),
  action: z.string().min(1).max(64).optional().openapi({ example: 'BLOCKED_BY_POLICY' }),
  correlationId: correlationIdSchema.optional(),
})
