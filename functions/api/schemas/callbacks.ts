import { z } from '@hono/zod-openapi'

/** The counts of a callback's updates. */
export const countsSchema = z.object({
  stored: z.int(),
  duplicates: z.int().openapi({ description: 'Known already.' }),
  applied: z.int(),
  skipped: z.int().openapi({ description: 'Stored without effect.' }),
  kept: z.int().openapi({ description: 'Stored until their message is known; then applied.' }),
}).openapi('CallbackCounts')
