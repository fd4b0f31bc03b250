import { z } from '@hono/zod-openapi'

/** What became of the updates of a callback. */
export const countsSchema = z.object({
  stored: z.int(),
  duplicates: z.int().openapi({ description: 'Known already.' }),
  applied: z.int(),
  skipped: z.int().openapi({ description: 'Stored, and nothing changed by them.' }),
  kept: z.int().openapi({ description: 'Stored until their message is known.' }),
}).openapi('CallbackCounts')
