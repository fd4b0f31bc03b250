import { z } from '../zod_openapi.ts'
import { timeSchema } from './common.ts'

export const healthSchema = z.object({
  status: z.enum(['ok', 'degraded']),
  version: z.string(),
  time: timeSchema,
  lastTickAt: timeSchema.nullable().openapi({ description: 'When pg_cron last ran the tick.' }),
  oldestDueAt: timeSchema.nullable().openapi({
    description: 'Since when the oldest due work has waited; null if none is due.',
  }),
  problems: z.array(z.string()).openapi({ description: 'Why the status is not ok.' }),
  warnings: z.array(z.string()).openapi({
    description: 'Limits of the database that are near. They stop no delivery yet.',
  }),
}).openapi('Health')
