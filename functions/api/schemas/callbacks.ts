import { z } from '../zod_openapi.ts'

/** Counts of the updates of a callback. */
export const countsSchema = z.object({
  stored: z.int(),
  duplicates: z.int().openapi({ description: 'Stored before.' }),
  applied: z.int(),
  skipped: z.int().openapi({ description: 'Stored without any effect.' }),
  kept: z.int().openapi({
    description: 'Stored until their message is known; then they are applied.',
  }),
}).openapi('CallbackCounts')
