import { z } from '../zod_openapi.ts'
import { correlationIdSchema, pageOf, pageQuery, timeQuery, timeSchema } from './common.ts'
import { numberIdSchema } from './messages.ts'

/** A row of the audit trail. */
export const auditEventSchema = z.object({
  id: numberIdSchema,
  entityType: z.string().openapi({ example: 'ENDPOINT' }),
  entityId: z.string(),
  action: z.string().openapi({ example: 'PAUSED' }),
  details: z.string(),
  actor: z.string().nullable().openapi({
    description:
      'Who did it: `key:<name>`, `key:<name>:<person>`, `user:<id>` or `portal:<subject>` over ' +
      'this API, `service` for another request with a secret key, `sql:<role>` in SQL; null if ' +
      'Outhook did it.',
    example: 'user:8f2c1d1e-6a3b-4c6e-9d55-0c4f3b1f7a10',
  }),
  correlationId: z.string().nullable().openapi({
    description: 'The correlation id of the message, if the row is about one.',
  }),
  at: timeSchema,
  data: z.record(z.string(), z.unknown()).openapi({
    description:
      'More about an action, such as the names of the changed members. It has no secret and no ' +
      'payload. Empty for rows about messages and people.',
  }),
})

export const auditPageSchema = pageOf(auditEventSchema).openapi('AuditEventPage')

export const auditQuery = z.strictObject({
  ...pageQuery,
  entityType: z.string().min(1).max(64).optional(),
  entityId: z.string().min(1).max(200).optional(),
  action: z.string().min(1).max(64).optional().openapi({ example: 'SECRET_SHOWN' }),
  actor: z.string().min(1).max(200).optional().openapi({ example: 'key:default' }),
  correlationId: correlationIdSchema.optional(),
  ...timeQuery,
})
