import { z } from '@hono/zod-openapi'
import { pageOf, pageQuery, timeSchema } from './common.ts'
import { numberIdSchema } from './messages.ts'

const auditEvent = z.object({
  id: numberIdSchema,
  entityType: z.string().openapi({ example: 'OUTBOUND_MESSAGE' }),
  entityId: z.string(),
  action: z.string().openapi({ example: 'SENT' }),
  details: z.string(),
  actor: z.string().nullable(),
  at: timeSchema,
})

export const auditPageSchema = pageOf(auditEvent).openapi('AuditEventPage')

export const auditQuery = z.strictObject({
  ...pageQuery,
  entityType: z.string().min(1).max(64).optional(),
  entityId: z.string().min(1).max(200).optional(),
})
