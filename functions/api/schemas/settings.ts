import { z } from '../zod_openapi.ts'
import { timeSchema } from './common.ts'

const setting = z.object({
  name: z.string().openapi({ example: 'api.requests_per_second' }),
  value: z.unknown().openapi({ description: 'The value that applies to the organisation.' }),
  own: z.boolean().openapi({ description: 'Whether the value is only of this organisation.' }),
  type: z.enum(['boolean', 'integer', 'text', 'text[]']),
  lowest: z.int().nullable(),
  highest: z.int().nullable(),
  byOrganisation: z.boolean().openapi({
    description: 'Whether an organisation may have a value of its own.',
  }),
  description: z.string(),
  updatedAt: timeSchema,
})

export const settingsSchema = z.object({ data: z.array(setting) }).openapi('Settings')
